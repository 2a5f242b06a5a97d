/* Cells of grids. React escapes all text. */
var dagcomponentfuncs = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});

dagcomponentfuncs.Chips = function (props) {
  const names = props.value || [];
  return React.createElement(
    "span",
    { className: "chips" },
    names.map(function (name, i) { return React.createElement("span", { className: "chip", key: i }, name); })
  );
};

dagcomponentfuncs.Rule = function (props) {
  const rule = props.data || {};
  const figures = [
    "coverage " + rule.shown,
    "precision " + rule.precision_text,
    rule.base_text && "base rate " + rule.base_text,
    rule.lift_text && "lift " + rule.lift_text,
    rule.mae_text && "MAE " + rule.mae_text,
    rule.support_text + " training rows",
    rule.holds && rule.holds + " here",
  ];
  const note = React.createElement("span", { className: "note", key: "note" }, figures.filter(Boolean).join(" · "));
  return React.createElement("span", { className: "rule" }, [props.value, window.suffice.isNarrow() ? note : null]);
};

dagcomponentfuncs.Share = function (props) {
  const share = Math.max(0, Math.min(1, props.value || 0));
  const text = props.data ? props.data[props.text || "shown"] : "";
  const tick = props.data && props.data[props.tick || "tick"];
  const parts = [React.createElement("span", { className: "fill", key: "fill", style: { width: 100 * share + "%" } })];
  if (tick) parts.push(React.createElement("span", { className: "tick", key: "tick", style: { left: 100 * tick + "%" } }));
  return React.createElement(
    "span",
    { className: "share" },
    React.createElement("span", { className: "bar", key: "bar" }, parts),
    React.createElement("span", { className: "number", key: "text" }, text)
  );
};
