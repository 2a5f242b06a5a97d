/* What the browser does by itself: colours, links, sliders, tabs. */
window.dash_clientside = window.dash_clientside || {};
window.dash_clientside.suffice = {
  scheme: function (n, stored) {
    const now = stored || (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    return n ? (now === "dark" ? "light" : "dark") : now;
  },
  paint: function (scheme) {
    return scheme || "light";
  },
  slide: function (slid, typed) {
    const none = window.dash_clientside.no_update;
    const by = window.dash_clientside.callback_context.triggered_id;
    if (!by || slid === typed) return [none, none];
    if (by.type === "slide") return [none, slid];
    return [typeof typed === "number" ? typed : none, none];
  },
  outside: function (values, ranges) {
    return values.map(function (value, i) {
      const own = ranges && ranges[i];
      if (!own || typeof value !== "number" || (value >= own[0] && value <= own[1])) return "";
      return "outside the training values, " + own[2] + " to " + own[3];
    });
  },
  text: function (value) {
    return String(value);
  },
  tabs: function (value) {
    window.setTimeout(function () { window.dispatchEvent(new Event("resize")); }, 50);
    return ["row", "rows", "rules", "quality"].map(function (name) { return name !== value; });
  },
  link: function (search) {
    const own = search === "?" ? window.location.pathname : search;
    window.history.replaceState(window.history.state, "", own);
    return "button";
  },
  copy: function (n) {
    const answer = window.navigator.clipboard ? "Copied" : "Copy the address above";
    if (window.navigator.clipboard) window.navigator.clipboard.writeText(window.location.href).catch(function () {});
    window.setTimeout(function () { window.dash_clientside.set_props("copy", { children: "Copy link" }); }, 1500);
    return answer;
  },
  go: function (address) {
    if (address) window.location.assign(address);
    return window.dash_clientside.no_update;
  },
  search: function (text, options) {
    return Object.assign({}, options, { quickFilterText: text || "" });
  },
};
