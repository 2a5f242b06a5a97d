/* What the browser does by itself: colours, links, sliders, tabs. */
window.dash_clientside = window.dash_clientside || {};
window.suffice = { isNarrow: function () { return window.innerWidth < 800; } };
window.dash_clientside.suffice = {
  scheme: function (n, stored) {
    const now = stored || (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    return n ? (now === "dark" ? "light" : "dark") : now;
  },
  paint: function (scheme) {
    return scheme || "light";
  },
  // Marks inputs that show another value than the row's own, and says which values the training rows have. It writes to
  // the page itself: Dash takes seconds to connect hundreds of outputs.
  marks: function (values, described) {
    const isEmpty = function (value) { return value === null || value === undefined || value === ""; };
    const editors = document.querySelectorAll("#editors .editor");
    values.forEach(function (value, i) {
      const one = (described && described[i]) || {}, editor = editors[i];
      if (!editor) return;
      const isOwn = value === one.own || (isEmpty(value) && isEmpty(one.own));
      const isOutside = typeof value === "number" && (value < one.low || value > one.high);
      const notes = [isOwn ? "" : "was " + one.was, one.range ? (isOutside ? "outside of " : "") + one.range : ""];
      editor.classList.toggle("edited", !isOwn);
      editor.classList.toggle("outside", isOutside);
      editor.lastElementChild.textContent = notes.filter(Boolean).join(" · ");
    });
    return window.dash_clientside.no_update;
  },
  text: function (value) {
    return String(value);
  },
  resize: function (tab) {
    window.setTimeout(function () { window.dispatchEvent(new Event("resize")); }, 50);
    return "tab-" + tab;
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
  // On a phone, the cells of the rules state what these columns hold.
  narrow: function () {
    const columns = ["coverage", "precision", "base", "lift", "mae", "support", "holds"];
    window.dash_ag_grid.getApiAsync("rule-grid").then(function (grid) {
      grid.setColumnsVisible(columns, !window.suffice.isNarrow());
    });
    return window.dash_clientside.no_update;
  },
  search: function (text, options) {
    return Object.assign({}, options, { quickFilterText: text || "" });
  },
};

// Components that take no label from Dash get one here, so that screen readers can name them.
new MutationObserver(function () {
  document.querySelectorAll("input[type=file]:not([aria-label])").forEach(function (input) {
    input.setAttribute("aria-label", "Choose a file");
  });
  // The title of a dialog is no second head of the page.
  document.querySelectorAll("header.mantine-Modal-header:not([role])").forEach(function (header) {
    header.setAttribute("role", "presentation");
  });
}).observe(document.documentElement, { childList: true, subtree: true });
