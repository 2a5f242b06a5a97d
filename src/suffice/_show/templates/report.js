"use strict";
// Draws the rules and the rows of the report from the data in the page. Whatever comes from the user's table is put into
// the page as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { columns, variables, candidates, sets, boxes, lines, rows } = data;
  const N_ROWS = rows.outcome.length;
  const ROWS_A_PAGE = 20;
  const RULES_A_PAGE = 20;
  const MAX_CHIPS = 12;
  const MAX_LISTED = 6;
  const MAX_COLUMNS = 5;
  // The forest's numbers have 32 bits; the page holds as few of their digits as tell them apart.
  for (const column of columns.filter((one) => one.kind === "number")) {
    column.values = column.values.map((value) => (value === null ? null : Math.fround(value)));
  }
  const byId = (id) => document.getElementById(id);

  // --- making elements and texts -----------------------------------------------------------------------------------

  function make(tag, classes, ...children) {
    const made = document.createElement(tag);
    if (classes) made.className = classes;
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  function placed(classes, style) {
    const made = make("span", classes);
    Object.assign(made.style, style);
    return made;
  }

  const percent = (share) => `${100 * Math.min(Math.max(share, 0), 1)}%`;
  const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
  const probability = (percentage) => (percentage / 100).toFixed(2);

  function formatNumber(value) {
    if (value === null) return "missing";
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
    if (Math.abs(value) >= 99999.5 && Math.abs(value) < 1e15) return value.toFixed(0);
    if (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e15) return String(Number(value.toPrecision(5)));
    const [digits, exponent] = value.toExponential(4).split("e");
    return `${Number(digits)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }

  function formatShare(share) {
    const shown = share >= 1 ? 100 : Math.min(100 * share, 99);
    return `${Number(shown.toPrecision(2))} %`;
  }

  function listed(names) {
    return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  }

  function valueText(column, value) {
    if (value === null) return "missing";
    return column.kind === "category" ? column.labels[value] : formatNumber(value);
  }

  const outcomeText = (outcome) => (data.classes ? data.classes[outcome] : formatNumber(outcome));
  const setNames = (set) => sets[set].map((v) => variables[v].name);
  const intervalText = (i) => `[${formatNumber(rows.low[i])}, ${formatNumber(rows.high[i])}]`;
  const conclusion = (i) => (data.classes ? outcomeText(rows.outcome[i]) : `${data.target} in ${intervalText(i)}`);
  const asked = (box) => boxes[box].conditions.map((condition) => condition.text);

  function sentence(conditions, said) {
    const told = make("div", "sentence");
    const word = (text) => make("b", "", text);
    if (!conditions.length) told.append(word("ALWAYS"), " ");
    conditions.forEach((condition, i) => told.append(word(i ? "AND" : "IF"), ` ${condition} `));
    if (conditions.length) told.append(word("THEN"), " ");
    told.append(said);
    return told;
  }

  // --- drawing -----------------------------------------------------------------------------------------------------

  function bar(share, kind = "", tick = null) {
    const drawn = make("span", "bar", placed(`fill ${kind}`, { width: percent(share) }));
    if (tick !== null) drawn.append(placed("tick", { left: percent(tick) }));
    return drawn;
  }

  function figure(name, share, text, kind = "", tick = null) {
    return make("div", "figure", make("span", "", name), bar(share, kind, tick), make("span", "number", text));
  }

  function bars(shares, { kind = "", tick = null, more = "", narrow = false } = {}) {
    const drawn = make("div", narrow ? "bars narrow" : "bars");
    for (const [name, share, text] of shares) {
      drawn.append(make("span", "", name), bar(share, kind, tick), make("span", "number", text));
    }
    if (more) drawn.append(make("span", "note more", more));
    return drawn;
  }

  function part(title, note, ...children) {
    return make("div", "part", make("div", "title", title, make("span", "note", note)), ...children);
  }

  function place(value, column) {
    const half = column.kind === "whole" ? 0.5 : 0;
    const [low, high] = [column.extent[0] - half, column.extent[1] + half];
    if (low === high) return 0.5 + Math.sign(value - low) / 2;
    return Math.min(Math.max((value - low) / (high - low), 0), 1);
  }

  // Where a band begins and ends; a whole number takes half a step on either side.
  function band(condition, column) {
    const step = (end, outward) => (column.kind === "whole" && Number.isInteger(end) ? outward : 0);
    const low = condition.low === null ? -Infinity : condition.low + step(condition.low, condition.lowClosed ? -0.5 : 0.5);
    const high = condition.high === null ? Infinity : condition.high + step(condition.high, condition.highClosed ? 0.5 : -0.5);
    return [place(low, column), place(high, column)];
  }

  function track(condition, column, value) {
    const drawn = make("div", "track", make("span", "range"));
    if (condition && condition.values) {
      const [start, end] = band(condition, column);
      const sides = (condition.low === null ? "" : " from") + (condition.high === null ? "" : " to");
      drawn.append(placed(`band${sides}`, { left: percent(start), right: percent(1 - end) }));
    }
    const at = value === null ? 0 : place(value, column);
    if (value !== null) drawn.append(placed("dot", { left: percent(at) }));
    const text = placed("value", { left: percent(at), transform: `translateX(-${percent(at)})` });
    text.textContent = formatNumber(value);
    drawn.append(text);
    return drawn;
  }

  function chips(condition, column, value) {
    const all = column.labels.map((label, code) => {
      const isIn = Boolean(condition && condition.values && (!condition.codes || condition.codes.includes(code)));
      return { label, isIn, isOwn: code === value };
    });
    if (value === null || (condition && condition.missing)) {
      all.push({ label: "missing", isIn: Boolean(condition && condition.missing), isOwn: value === null });
    }
    let shown = all;
    if (all.length > MAX_CHIPS) {
      const included = all.filter((chip) => chip.isIn && !chip.isOwn);
      const others = all.filter((chip) => !chip.isIn && !chip.isOwn);
      const nLeft = MAX_CHIPS - all.filter((chip) => chip.isOwn).length;
      const kept = included.slice(0, Math.max(Math.floor((nLeft * 2) / 3), nLeft - others.length));
      const chosen = new Set([...kept, ...others.slice(0, nLeft - kept.length)]);
      shown = all.filter((chip) => chip.isOwn || chosen.has(chip));
    }
    const drawn = make("div", "chips");
    for (const { label, isIn, isOwn } of shown) {
      const chip = make("span", `chip${isOwn ? " own" : ""}${isIn ? " in" : ""}`, label);
      chip.title = [isOwn ? "this row's" : "", isIn ? "in the rule" : ""].filter(Boolean).join(", ");
      drawn.append(chip);
    }
    const nMore = all.length - shown.length;
    const nIn = all.filter((chip) => chip.isIn).length - shown.filter((chip) => chip.isIn).length;
    if (nMore) drawn.append(make("span", "note", `and ${nMore} more${nIn ? `, ${nIn} of them in the rule` : ""}`));
    return drawn;
  }

  function drawing(condition, column, value) {
    const isLabels = column.kind === "category";
    const bounds = condition && !(isLabels && condition.codes) ? condition.bounds : "";
    const named = make("div", "asked", make("div", "name", column.name), bounds ? make("div", "note", bounds) : null);
    if (isLabels) return make("div", "drawing labels", named, make("div", "spread", chips(condition, column, value)));
    if (!column.extent) return make("div", "drawing", named, make("div", "spread", formatNumber(value)));
    const digits = column.kind === "whole" ? 15 : 4;
    const [low, high] = column.extent.map((end) => formatNumber(Number(end.toPrecision(digits))));
    return make(
      "div",
      "drawing",
      named,
      make("span", "end low", low),
      track(condition, column, value),
      make("span", "end", high),
    );
  }

  // --- the card of a row -------------------------------------------------------------------------------------------

  function outcomeTrack(i) {
    if (data.classes || !data.range) return null;
    const column = { name: data.target, kind: "number", extent: data.range };
    const kept = { low: rows.low[i], high: rows.high[i], values: true, bounds: `kept within ${intervalText(i)}` };
    return make("div", "part", make("div", "drawings", drawing(kept, column, rows.outcome[i])));
  }

  function careNote(i) {
    if (!rows.care[i]) return null;
    const said = outcomeText(rows.prediction[i]);
    const why =
      rows.care[i] === 2
        ? "The outcome lies outside the interval: the explanation is of the interval."
        : `The forest says ${said} here.`;
    return make("div", "care", make("b", "", "Read with care. "), why);
  }

  const isIndicator = (column) => column.kind !== "category" || column.labels.join() === "False,True";

  // The columns of a set; of indicators, those that are on.
  function columnsOf(set, i) {
    return sets[set].flatMap((v) => {
      const held = variables[v].columns.map((c) => columns[c]);
      const isOn = held.filter((column) => column.values[i] === 1);
      const isBinary = held.every((column) => isIndicator(column) && [0, 1].includes(column.values[i]));
      return (held.length > 1 && isBinary && isOn.length ? isOn : held).slice(0, MAX_COLUMNS);
    });
  }

  function ruleParts(i) {
    const box = rows.box[i];
    const [firstSet, percentage] = rows.sets[i];
    if (box >= 0) {
      const { conditions, coverage, missing } = boxes[box];
      const drawn = conditions.map((c) => drawing(c, columns[c.column], columns[c.column].values[i]));
      return [
        sentence(asked(box), conclusion(i)),
        make(
          "div",
          "figures",
          figure("SDP", rows.sdp[i] / 100, probability(rows.sdp[i]), "", data.pi),
          figure("coverage", coverage, formatShare(coverage), "plain"),
        ),
        drawn.length
          ? make("div", "part", make("div", "drawings", ...drawn), make("div", "note under", missing))
          : null,
      ];
    }
    const isEnough = rows.nSets[i] > 0;
    const told = isEnough
      ? "To keep it, these values are enough."
      : `No set of the candidate variables keeps it with probability ${data.pi}, so there is no rule.`;
    const drawn = columnsOf(firstSet, i).map((column) => drawing(null, column, column.values[i]));
    return [
      make("div", "sentence", told),
      part(
        isEnough ? "This is enough" : "Nearest comes",
        drawn.length ? "" : "nothing at all: whatever is known",
        make("div", "drawings", ...drawn),
        make("div", "figures", figure("SDP", percentage / 100, probability(percentage), isEnough ? "" : "plain", data.pi)),
      ),
    ];
  }

  function setsParts(i) {
    const nSets = rows.nSets[i];
    if (!nSets) return null;
    const shown = [];
    for (let k = 0; k < rows.sets[i].length; k += 2) {
      const percentage = rows.sets[i][k + 1];
      shown.push([listed(setNames(rows.sets[i][k])) || "nothing at all", percentage / 100, probability(percentage)]);
    }
    const more = nSets > shown.length ? `and ${nSets - shown.length} more` : "";
    const note = nSets > 1 ? "each alone is enough" : "";
    const found = part(counted(nSets, "sufficient set"), note, bars(shown, { tick: data.pi, more, narrow: true }));
    if (nSets === 1) return make("div", "halves", found);
    const importance = rows.held[i]
      .map((n, k) => [variables[candidates[k]].name, n / nSets])
      .filter(([, share]) => share > 0)
      .sort((a, b) => b[1] - a[1]);
    const left = importance.length - MAX_LISTED;
    const drawn = bars(
      importance.slice(0, MAX_LISTED).map(([name, share]) => [name, share, share.toFixed(2)]),
      { kind: "importance", more: left > 0 ? `and ${left} more` : "" },
    );
    return make("div", "halves", found, part("Importance (LXI)", "share of these sets", drawn));
  }

  function allValues(i) {
    const details = make("details", "", make("summary", "", "All values of this row"));
    details.addEventListener("toggle", () => {
      if (details.children.length > 1) return;
      const told = make("div", "facts");
      for (const column of columns) {
        told.append(make("span", "key", column.name), make("span", "", valueText(column, column.values[i])));
      }
      if (rows.line[i] >= 0) {
        const said = `${rows.line[i] + 1}: ${lines[rows.line[i]].said}`;
        told.append(make("span", "key", "first rule that covers it"), make("span", "", said));
      }
      details.append(told);
    });
    return details;
  }

  function card(i) {
    const nEnough = sets[rows.sets[i][0]].length;
    const enough = nEnough
      ? `${nEnough} of ${counted(variables.length, "variable")} ${nEnough === 1 ? "is" : "are"} enough`
      : "no variable is needed";
    const badge = rows.nSets[i] ? make("div", "badge", enough) : make("div", "badge none", "no sufficient set");
    const drawn = make(
      "article",
      "suffice card",
      make(
        "div",
        "head",
        make(
          "div",
          "",
          make("div", "eyebrow", `Row ${i}`),
          make("div", "outcome", outcomeText(rows.outcome[i])),
        ),
        badge,
      ),
      careNote(i),
      outcomeTrack(i),
      ...ruleParts(i),
      setsParts(i),
      allValues(i),
    );
    drawn.id = `row-${i}`;
    drawn.setAttribute("aria-label", `Row ${i}`);
    return drawn;
  }

  // --- searching and paging ----------------------------------------------------------------------------------------

  // All words, and all phrases in quotes, must occur.
  function termsOf(query) {
    return [...query.toLowerCase().matchAll(/"([^"]+)"|[^\s"]+/g)].map((match) => match[1] ?? match[0]);
  }

  function later(call) {
    let waiting = 0;
    return () => {
      clearTimeout(waiting);
      waiting = setTimeout(call, 120);
    };
  }

  function makePager(holder, label, turn) {
    const buttons = ["First", "Previous", "Next", "Last"].map((name) => {
      const button = make("button", "", name);
      button.type = "button";
      return button;
    });
    const told = make("span", "count");
    holder.append(buttons[0], buttons[1], told, buttons[2], buttons[3]);
    let page = 0;
    let nPages = 1;
    const goTo = (to) => {
      page = to;
      turn(page);
    };
    [() => 0, () => page - 1, () => page + 1, () => nPages - 1].forEach((target, k) => {
      buttons[k].addEventListener("click", () => goTo(target()));
      buttons[k].setAttribute("aria-label", `${buttons[k].textContent} page of ${label}`);
    });
    return (nItems, size, at) => {
      page = at;
      nPages = Math.max(1, Math.ceil(nItems / size));
      told.textContent = `Page ${page + 1} of ${nPages}`;
      buttons.forEach((button, k) => (button.disabled = k < 2 ? page === 0 : page === nPages - 1));
      holder.hidden = nPages === 1;
    };
  }

  // --- the rules ---------------------------------------------------------------------------------------------------

  function covers(box, i) {
    return boxes[box].conditions.every((condition) => {
      const column = columns[condition.column];
      const value = column.values[i];
      if (value === null) return condition.missing;
      if (!condition.values) return false;
      if (column.kind === "category") return !condition.codes || condition.codes.includes(value);
      const isAbove = condition.low === null || (condition.lowClosed ? value >= condition.low : value > condition.low);
      const isBelow = condition.high === null || (condition.highClosed ? value <= condition.high : value < condition.high);
      return isAbove && isBelow;
    });
  }

  lines.forEach((line, k) => {
    line.place = k;
    line.text = `if ${asked(line.box).join(" and ")} then ${line.said}`.toLowerCase();
  });
  let shownLines = lines;
  let sortedBy = { key: "coverage", isDescending: true };
  const body = document.querySelector("#rule-table tbody");
  const headers = [...document.querySelectorAll("#rule-table th")];

  function lineRow(line) {
    const said = sentence(asked(line.box), line.said);
    const share = (value, text, kind) =>
      make("td", "share", make("div", "figure", bar(value, kind), make("span", "number", text)));
    let count = make("span", "note", "0 rows");
    if (line.rows) {
      count = make("button", "", counted(line.rows, "row"));
      count.type = "button";
      count.setAttribute("aria-label", `Show the ${line.rows} explained rows that rule ${line.place + 1} covers`);
      count.addEventListener("click", () => showRowsOf(line));
    }
    return make(
      "tr",
      "",
      make("td", "place", String(line.place + 1)),
      make("td", "text", said),
      share(line.coverage, formatShare(line.coverage), "plain"),
      share(line.precision, (Math.floor(line.precision * 100 + 1e-7) / 100).toFixed(2), ""),
      make("td", "rows", count),
    );
  }

  const tellRulePages = makePager(byId("rule-pager"), "rules", drawRules);

  function drawRules(page = 0) {
    const begin = page * RULES_A_PAGE;
    body.replaceChildren(...shownLines.slice(begin, begin + RULES_A_PAGE).map(lineRow));
    if (!shownLines.length) {
      const cell = make("td", "nothing", lines.length ? "No rule matches." : "There are no rules.");
      cell.colSpan = 5;
      body.append(make("tr", "", cell));
    }
    byId("rule-count").textContent =
      shownLines.length === lines.length
        ? counted(lines.length, "rule")
        : `${shownLines.length.toLocaleString("en")} of ${counted(lines.length, "rule")}`;
    tellRulePages(shownLines.length, RULES_A_PAGE, page);
    for (const header of headers) {
      const isSorted = header.firstElementChild.dataset.sort === sortedBy.key;
      if (isSorted) header.setAttribute("aria-sort", sortedBy.isDescending ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    }
  }

  function chooseRules() {
    const terms = termsOf(byId("rule-search").value);
    const { key, isDescending } = sortedBy;
    const compare = (a, b) => (key === "text" ? a.text.localeCompare(b.text) : a[key] - b[key]);
    shownLines = lines
      .filter((line) => terms.every((term) => line.text.includes(term)))
      .sort((a, b) => (isDescending ? compare(b, a) : compare(a, b))); // of equal ones the lower number stays first
    drawRules();
  }

  for (const header of headers) {
    const { sort } = header.firstElementChild.dataset;
    header.firstElementChild.addEventListener("click", () => {
      const startsDescending = sort !== "place" && sort !== "text";
      sortedBy = { key: sort, isDescending: sortedBy.key === sort ? !sortedBy.isDescending : startsDescending };
      chooseRules();
    });
  }
  byId("rule-search").addEventListener("input", later(chooseRules));

  // --- the rows ----------------------------------------------------------------------------------------------------

  let haystacks = null; // one text a row, made when it is first searched

  function haystack(i) {
    const values = columns.map((column) => `${column.name} = ${valueText(column, column.values[i])}`);
    const rule = rows.box[i] < 0 ? "" : `if ${asked(rows.box[i]).join(" and ")} then ${conclusion(i)}`;
    return [`row ${i}`, `${data.target} = ${outcomeText(rows.outcome[i])}`, ...values, rule, ""].join("; ").toLowerCase();
  }

  const everyRow = Array.from({ length: N_ROWS }, (_, i) => i);
  let shownRows = everyRow;
  let byRule = null;
  const tellRowPages = makePager(byId("row-pager"), "rows", (page) => {
    drawRows(page);
    byId("rows").scrollIntoView();
  });

  function drawRows(page = 0) {
    const begin = page * ROWS_A_PAGE;
    byId("cards").replaceChildren(...shownRows.slice(begin, begin + ROWS_A_PAGE).map(card));
    if (!shownRows.length) byId("cards").append(make("div", "nothing", N_ROWS ? "No row matches." : "There are no rows."));
    byId("row-count").textContent =
      shownRows.length === N_ROWS
        ? counted(N_ROWS, "row")
        : `${shownRows.length.toLocaleString("en")} of ${counted(N_ROWS, "row")}`;
    tellRowPages(shownRows.length, ROWS_A_PAGE, page);
  }

  function keepsOutcome() {
    if (data.classes) {
      const wanted = byId("outcome").value;
      return (i) => wanted === "" || rows.outcome[i] === Number(wanted);
    }
    const [from, to] = [byId("outcome-from"), byId("outcome-to")].map((input) => input.valueAsNumber);
    return (i) => !(rows.outcome[i] < from) && !(rows.outcome[i] > to); // an empty field is NaN
  }

  const orders = {
    row: (a, b) => a - b,
    surest: (a, b) => rows.sets[b][1] - rows.sets[a][1] || a - b,
    unsure: (a, b) => rows.sets[a][1] - rows.sets[b][1] || a - b,
    covers: (a, b) => coverageOf(b) - coverageOf(a) || a - b,
  };
  const coverageOf = (i) => (rows.box[i] < 0 ? -1 : boxes[rows.box[i]].coverage);

  function chooseRows() {
    const terms = termsOf(byId("row-search").value);
    if (terms.length && !haystacks) haystacks = everyRow.map(haystack);
    const sufficient = byId("sufficient").value;
    const agrees = byId("agrees").value;
    const variable = byId("variable").value;
    const hasOutcome = keepsOutcome();
    shownRows = everyRow
      .filter(
        (i) =>
          hasOutcome(i) &&
          (!sufficient || rows.nSets[i] > 0 === (sufficient === "yes")) &&
          (!agrees || (rows.care[i] === 0) === (agrees === "yes")) &&
          (!variable || sets[rows.sets[i][0]].includes(Number(variable))) &&
          terms.every((term) => haystacks[i].includes(term)) &&
          (!byRule || covers(byRule.box, i)),
      )
      .sort(orders[byId("order").value]);
    drawRows();
  }

  function tellRule() {
    const holder = byId("by-rule");
    holder.replaceChildren();
    if (!byRule) return;
    const button = make("button", "", `Covered by rule ${byRule.place + 1} \u00d7`);
    button.type = "button";
    button.setAttribute("aria-label", `Covered by rule ${byRule.place + 1}: show all rows again`);
    button.addEventListener("click", () => showRowsOf(null));
    holder.append(button);
  }

  function showRowsOf(line) {
    byRule = line;
    tellRule();
    chooseRows();
    if (line) byId("rows").scrollIntoView();
  }

  function makeOutcomeFilter() {
    const holder = byId("outcome-filter");
    const labelled = (text, input, id) => {
      input.id = id;
      holder.append(make("label", "", `${text} `, input), " ");
    };
    if (data.classes) {
      const select = make("select", "", new Option("any", ""));
      data.classes.forEach((name, k) => select.append(new Option(name, k)));
      labelled("Outcome", select, "outcome");
      return;
    }
    for (const end of ["from", "to"]) {
      const input = make("input", "");
      input.type = "number";
      input.step = "any";
      labelled(end === "from" ? "Outcome from" : "to", input, `outcome-${end}`);
    }
  }

  makeOutcomeFilter();
  for (const v of candidates) byId("variable").append(new Option(variables[v].name, v));
  const controls = byId("row-controls");
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const select of controls.querySelectorAll("select")) select.addEventListener("change", chooseRows);
  for (const input of controls.querySelectorAll("input")) input.addEventListener("input", later(chooseRows));
  controls.addEventListener("reset", () => setTimeout(() => showRowsOf(null)));
  chooseRules();
  drawRows();
})();
