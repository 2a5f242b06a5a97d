"use strict";
// Draws the rules and the rows of the report from the data in the page, which hold the texts and the places of all that
// is drawn; finds, sorts and pages them. Whatever comes from the user's table is put into the page as text, never as
// markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { words, columns, variables, sets, conditions, boxes, lines, rows } = data;
  const N_ROWS = rows.outcome.length;
  const ROWS_A_PAGE = 20;
  const RULES_A_PAGE = 20;
  const MISSING = -1;
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
  const place = (hundredths) => `${hundredths / 100}%`;
  const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
  const probability = (percentage) => (percentage / 100).toFixed(2);

  function valueText(column, value) {
    if (value === null) return "missing";
    return column.labels?.[value] ?? String(value);
  }

  const withBound = (i, percentage) => `${probability(percentage)}${words.bound}${probability(rows.lower[i])})`;
  const level = (i) => (data.classes ? data.levels[rows.outcome[i]] : data.levels[0]);

  const label = (i) => `Row ${data.names ? data.names[i] : i}`;
  const outcomeText = (i) => (data.classes ? data.classes[rows.outcome[i]] : String(rows.outcome[i]));
  const conclusion = (i) => (data.classes ? outcomeText(i) : `${words.conclusion}${rows.interval[i]}`);

  // The words of a sentence and whether each is IF, AND, THEN or ALWAYS.
  function wordsOf(box, conclusion) {
    const written = boxes[box][0].map((k) => (k < 0 ? [data.keys[-1 - k], true] : [conditions[k][1], false]));
    return [...written, [conclusion, false]];
  }

  function sentence(box, conclusion) {
    const drawn = make("div", "sentence");
    wordsOf(box, conclusion).forEach(([text, isKey], i) => {
      drawn.append(i ? " " : "", isKey ? make("b", "", text) : text);
    });
    return drawn;
  }

  const searchedText = (box, conclusion) => wordsOf(box, conclusion).map(([text]) => text).join(" ").toLowerCase();

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

  function named(name, note) {
    return make("div", "bounds", make("div", "name", name), note ? make("div", "note", note) : null);
  }

  // A range of numbers with a band, if there is one, and the row's value.
  function range(name, note, ends, band, at, text) {
    const track = make("div", "track", make("span", "range"));
    if (band) {
      const [start, end, sides] = band;
      track.append(placed(`band${sides}`, { left: place(start), right: place(10000 - end) }));
    }
    if (at !== null) track.append(placed("dot", { left: place(at) }));
    const value = placed("value", { left: place(at ?? 0), transform: `translateX(-${place(at ?? 0)})` });
    value.textContent = text;
    track.append(value);
    return make("div", "drawing", named(name, note), make("span", "end low", ends[0]), track, make("span", "end", ends[1]));
  }

  function chips([codes, kinds, more], column) {
    const drawn = make("div", "chips");
    codes.forEach((code, k) => {
      const isIn = kinds[k] % 2 === 1;
      const isOwn = kinds[k] >= 2;
      const text = code === MISSING ? "missing" : column.labels[code];
      const chip = make("span", `chip${isOwn ? " own" : ""}${isIn ? " in" : ""}`, text);
      chip.title = [isOwn ? "this row's" : "", isIn ? "in the rule" : ""].filter(Boolean).join(", ");
      drawn.append(chip);
    });
    if (more) drawn.append(make("span", "note", more));
    return drawn;
  }

  // A column of a row: `drawn` is where its value lies on the range, or which chips show it.
  function drawing(i, c, drawn, bounds = "", band = null) {
    const column = columns[c];
    const text = valueText(column, column.values[i]);
    if (column.labels) {
      return make("div", "drawing labels", named(column.name, bounds), make("div", "spread", chips(data.chips[drawn], column)));
    }
    if (!column.ends) return make("div", "drawing", named(column.name, bounds), make("div", "spread", text));
    return range(column.name, bounds, column.ends, band, drawn, text);
  }

  // --- the card of a row -------------------------------------------------------------------------------------------

  function outcomeRange(i) {
    if (data.classes) return null;
    const [start, end, at] = rows.kept[i];
    const note = `${words.kept}${rows.interval[i]}`;
    const drawn = range(data.target, note, data.outcomeEnds, [start, end, " from to"], at, outcomeText(i));
    return make("div", "part", make("div", "drawings", drawn));
  }

  function careNote(i) {
    const [reasons] = data.cautions[rows.care[i]];
    return reasons ? make("div", "care", make("b", "", words.care), reasons) : null;
  }

  // How likely the outcome is on average and if all variables are known, and the level of its class.
  function rowNote(i) {
    const note = data.notes[rows.note[i]];
    return note ? make("div", "note under", note) : null;
  }

  function advicePart(i) {
    const advice = data.advice[rows.advice[i]];
    return advice ? make("div", "part note", advice) : null;
  }

  function ruleParts(i) {
    const box = rows.box[i];
    const [, percentage] = rows.sets[i];
    if (box >= 0) {
      const [held, coverage, coverageText, missing] = boxes[box];
      const drawn = held.filter((k) => k >= 0).map((k, j) => {
        const [column, , bounds, ...band] = conditions[k];
        return drawing(i, column, rows.drawn[i][j], bounds, band.length ? band : null);
      });
      return [
        sentence(box, conclusion(i)),
        make(
          "div",
          "figures",
          figure("SDP", rows.sdp[i] / 100, withBound(i, rows.sdp[i]), "", level(i)),
          figure("coverage", coverage, coverageText, "plain"),
        ),
        make("div", "note under", data.supports[rows.support[i]]),
        rows.checked && data.checks[rows.checked[i]] ? make("div", "part note", data.checks[rows.checked[i]]) : null,
        rowNote(i),
        drawn.length
          ? make("div", "part", make("div", "drawings", ...drawn), make("div", "note under", missing))
          : null,
      ];
    }
    const isEnough = rows.nSets[i] > 0;
    const drawn = rows.columns[i].map((column, j) => drawing(i, column, rows.drawn[i][j]));
    return [
      part(
        isEnough ? words.enough : words.nearest,
        drawn.length ? "" : words.nothing,
        make("div", "drawings", ...drawn),
        make("div", "figures", figure("SDP", percentage / 100, withBound(i, percentage), isEnough ? "" : "plain", level(i))),
        rowNote(i),
      ),
    ];
  }

  // Takes a flat list of pairs apart.
  function pairs(flat) {
    return Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k], flat[2 * k + 1]]);
  }

  function setsParts(i) {
    const nSets = rows.nSets[i];
    if (!nSets || sets[rows.sets[i][0]].length === 1) return null; // no set, or the empty one, which has nothing to list
    const shown = pairs(rows.sets[i]).map(([set, percentage]) => [sets[set][0], percentage / 100, probability(percentage)]);
    const [title, note, more] = data.setsTexts[nSets];
    const listed = part(title, note, bars(shown, { tick: level(i), more, narrow: true }));
    if (!rows.importance[i]) return make("div", "halves", listed); // all variables are equally important
    const importance = pairs(rows.importance[i]).map(([v, share]) => [variables[v], share / 100, probability(share)]);
    const drawn = bars(importance, { kind: "importance", more: data.mores[rows.more[i]] });
    return make("div", "halves", listed, part("Importance", words.importance, drawn));
  }

  function allValues(i) {
    const details = make("details", "", make("summary", "", "All values of this row"));
    details.addEventListener("toggle", () => {
      if (details.children.length > 1) return;
      const facts = make("div", "facts");
      for (const column of columns) {
        facts.append(make("span", "key", column.name), make("span", "", valueText(column, column.values[i])));
      }
      if (rows.line[i] >= 0) {
        const rule = `${rows.line[i] + 1}: ${lines[rows.line[i]].conclusion}`;
        facts.append(make("span", "key", "first rule that covers it"), make("span", "", rule));
      }
      details.append(facts);
    });
    return details;
  }

  function reasonsPart(i) {
    if (!rows.reasons) return null;
    const [lead, ...texts] = data.reasons[rows.reasons[i]];
    const listed = texts.map((text) => make("div", "", text));
    return make("div", "part", make("div", "title", "Reasons"), ...(listed.length ? listed : [make("div", "note", lead)]));
  }

  function card(i) {
    const nEnough = sets[rows.sets[i][0]].length - 1;
    const badge = rows.nSets[i] ? make("div", "badge", data.badges[nEnough]) : make("div", "badge none", words.noSet);
    const title = make("div", "", make("div", "eyebrow", label(i)), make("div", "outcome", outcomeText(i)));
    const drawn = make(
      "article",
      "suffice card",
      make("div", "head", title, badge),
      careNote(i),
      make("div", "part saying", data.leads[rows.lead[i]]),
      reasonsPart(i),
      outcomeRange(i),
      ...ruleParts(i),
      advicePart(i),
      setsParts(i),
      allValues(i),
    );
    drawn.id = `row-${i}`;
    drawn.setAttribute("aria-label", label(i));
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
    const count = make("span", "count");
    holder.append(buttons[0], buttons[1], count, buttons[2], buttons[3]);
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
      count.textContent = `Page ${page + 1} of ${nPages}`;
      buttons.forEach((button, k) => (button.disabled = k < 2 ? page === 0 : page === nPages - 1));
      holder.hidden = nPages === 1;
    };
  }

  // --- the rules ---------------------------------------------------------------------------------------------------

  // The rows that a rule covers: the distances between those covered or, after a 0, between those that are not.
  function rowsOf(line) {
    const [isCovered, ...gaps] = line.gaps;
    let at = 0;
    const named = new Set(gaps.map((gap) => (at += gap)));
    return (i) => named.has(i) === (isCovered === 1);
  }

  lines.forEach((line, k) => {
    line.place = k;
    line.text = searchedText(line.box, line.conclusion);
  });
  let shownLines = lines;
  // At first, the rules for the class that people care about come before the others.
  let sortedBy = { key: "coverage", isDescending: true, isFocusFirst: data.focus !== null };
  const body = document.querySelector("#rule-table tbody");
  const headers = [...document.querySelectorAll("#rule-table th")];

  function lineRow(line) {
    const share = (value, text, kind, note = null) =>
      make("td", "share", make("div", "figure", bar(value, kind), make("span", "number", text)), note);
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
      make("td", "text", sentence(line.box, line.conclusion), line.note ? make("div", "note", line.note) : null),
      share(line.coverage, boxes[line.box][2], "plain", make("div", "note", counted(line.trainingRows, "training row"))),
      share(line.precision, line.precisionText, ""),
      make("td", "rows", count),
    );
  }

  const showRulePages = makePager(byId("rule-pager"), "rules", drawRules);

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
    showRulePages(shownLines.length, RULES_A_PAGE, page);
    for (const header of headers) {
      const isSorted = !sortedBy.isFocusFirst && header.firstElementChild.dataset.sort === sortedBy.key;
      if (isSorted) header.setAttribute("aria-sort", sortedBy.isDescending ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    }
  }

  function chooseRules() {
    const terms = termsOf(byId("rule-search").value);
    const { key, isDescending, isFocusFirst } = sortedBy;
    const compare = (a, b) => (key === "text" ? a.text.localeCompare(b.text) : a[key] - b[key]);
    const byFocus = (a, b) => (isFocusFirst ? b.isFocus - a.isFocus : 0);
    shownLines = lines
      .filter((line) => terms.every((term) => line.text.includes(term)))
      .sort((a, b) => byFocus(a, b) || (isDescending ? compare(b, a) : compare(a, b))); // equal ones stay in the order of their numbers
    drawRules();
  }

  for (const header of headers) {
    const { sort } = header.firstElementChild.dataset;
    header.firstElementChild.addEventListener("click", () => {
      const startsDescending = sort !== "place" && sort !== "text";
      const isAgain = sortedBy.key === sort && !sortedBy.isFocusFirst;
      sortedBy = { key: sort, isDescending: isAgain ? !sortedBy.isDescending : startsDescending };
      chooseRules();
    });
  }
  byId("rule-search").addEventListener("input", later(chooseRules));

  // --- the rows ----------------------------------------------------------------------------------------------------

  let haystacks = null; // one text a row, made when it is first searched

  function haystack(i) {
    const values = columns.map((column) => `${column.name} = ${valueText(column, column.values[i])}`);
    const rule = rows.box[i] < 0 ? "" : searchedText(rows.box[i], conclusion(i));
    const reasons = rows.reasons ? data.reasons[rows.reasons[i]] : [];
    return [label(i), `${data.target} = ${outcomeText(i)}`, ...values, rule, ...reasons, ""].join("; ").toLowerCase();
  }

  const everyRow = Array.from({ length: N_ROWS }, (_, i) => i);
  let shownRows = everyRow;
  let byRule = null;
  const showRowPages = makePager(byId("row-pager"), "rows", (page) => {
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
    showRowPages(shownRows.length, ROWS_A_PAGE, page);
  }

  function keepsOutcome() {
    if (data.classes) {
      const wanted = byId("outcome").value;
      return (i) => wanted === "" || rows.outcome[i] === Number(wanted);
    }
    const [from, to] = [byId("outcome-from"), byId("outcome-to")].map((input) => input.valueAsNumber);
    return (i) => !(rows.outcome[i] < from) && !(rows.outcome[i] > to); // an empty field is NaN
  }

  const isOfFocus = (i) => Number(rows.outcome[i] === data.focus && rows.nSets[i] > 0);
  const orders = {
    focus: (a, b) => isOfFocus(b) - isOfFocus(a) || a - b,
    row: (a, b) => a - b,
    surest: (a, b) => rows.sets[b][1] - rows.sets[a][1] || a - b,
    unsure: (a, b) => rows.sets[a][1] - rows.sets[b][1] || a - b,
    covers: (a, b) => coverageOf(b) - coverageOf(a) || a - b,
  };
  const coverageOf = (i) => (rows.box[i] < 0 ? -1 : boxes[rows.box[i]][1]);

  if (!data.canDisagree) byId("agrees").parentElement.style.display = "none"; // a forest agrees with itself

  function chooseRows() {
    const terms = termsOf(byId("row-search").value);
    if (terms.length && !haystacks) haystacks = everyRow.map(haystack);
    const sufficient = byId("sufficient").value;
    const agrees = byId("agrees").value;
    const variable = byId("variable").value;
    const hasOutcome = keepsOutcome();
    const isCovered = byRule ? rowsOf(byRule) : () => true;
    shownRows = everyRow
      .filter(
        (i) =>
          hasOutcome(i) &&
          (!sufficient || rows.nSets[i] > 0 === (sufficient === "yes")) &&
          (!agrees || (data.cautions[rows.care[i]][1] === 0) === (agrees === "yes")) &&
          (!variable || sets[rows.sets[i][0]].indexOf(Number(variable), 1) > 0) &&
          terms.every((term) => haystacks[i].includes(term)) &&
          isCovered(i),
      )
      .sort(orders[byId("order").value]);
    drawRows();
  }

  function showChosenRule() {
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
    showChosenRule();
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
  if (data.focus !== null) {
    byId("order").prepend(new Option(`${data.classes[data.focus]} with a sufficient set first`, "focus", true, true));
  }
  for (const v of data.candidates) byId("variable").append(new Option(variables[v], v));
  const controls = byId("row-controls");
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const select of controls.querySelectorAll("select")) select.addEventListener("change", chooseRows);
  for (const input of controls.querySelectorAll("input")) input.addEventListener("input", later(chooseRows));
  controls.addEventListener("reset", () => setTimeout(() => showRowsOf(null)));
  chooseRules();
  chooseRows();
})();
