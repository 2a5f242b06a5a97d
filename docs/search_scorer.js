/* Search: pages of the guide come before figures, the reference and the changelog. The numbers are Sphinx's own. */
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const gains = [
      ["guide/from_0_2", 0],
      ["guide/", 25],
      ["start", 25],
      ["gallery/", 8],
      ["evidence/", 5],
      ["changelog", -40],
      ["contributing", -30],
      ["reproduce", -10],
    ];
    const found = gains.find(([start]) => docname.startsWith(start));
    return score + (found ? found[1] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
