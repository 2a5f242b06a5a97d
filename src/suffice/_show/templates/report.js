"use strict";
// Filters the rows of the report; the page holds their finished cards, and can be read without this script.
(() => {
  const form = document.getElementById("row-controls");
  const cards = [...document.querySelectorAll("#cards > article")];
  const texts = new Map(); // of cards, made when they are first searched
  let chosen = null; // the button of a rule, or of a line of the overview

  function textOf(card) {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  }

  function choose() {
    const filters = [...form.querySelectorAll("select")].filter((field) => field.value);
    const selector = filters.map((field) => `[data-${field.name}~="${field.value}"]`).join("") || "article";
    // All words, and all phrases in quotes, must occur.
    const words = [...form.elements.words.value.toLowerCase().matchAll(/"([^"]+)"|[^\s"]+/g)].map((m) => m[1] ?? m[0]);
    const rows = chosen && new Set(chosen.dataset.rows.split(" "));
    let n = 0;
    for (const card of cards) {
      const isShown =
        card.matches(selector) && (!rows || rows.has(card.dataset.row)) && words.every((word) => textOf(card).includes(word));
      card.hidden = !isShown;
      n += isShown;
    }
    const which = chosen ? `: ${chosen.getAttribute("aria-label")}` : "";
    form.querySelector("output").textContent = `${n} of ${cards.length} rows${which}`;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-rows]");
    if (!button) return;
    form.reset();
    chosen = button;
    choose();
    document.getElementById("rows").scrollIntoView();
    form.elements.words.focus({ preventScroll: true });
  });
  form.addEventListener("reset", () => {
    chosen = null;
    setTimeout(choose);
  });
  form.addEventListener("input", choose);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  choose();
})();
