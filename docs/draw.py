"""Draw the pictures of the method and the chart of docs/evidence/speed.md: ``python docs/draw.py``.

The chart shows what `make bench-speed` has printed (docs/evidence/printed/speed.txt); the rule is that of a real
explainer.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt
import pandas as pd

from suffice import SufficientExplainer

FOLDER = Path(__file__).parent / "images"
PRINTED = Path(__file__).parent / "evidence" / "printed" / "speed.txt"
BLUE, ORANGE, GREY, PALE = "#1b6ca8", "#c8641c", "#8a8f98", "#dce8f2"
TABLES = ["Breast cancer", "German credit", "Bank", "Bike", "Switch model", "Flights"]
LOOKS = {  # method, marker, colour
    "suffice, minimal sets": ("o", BLUE),
    "suffice, all sets and a rule": ("s", BLUE),
    "shap": ("D", ORANGE),
    "shapiq": ("^", ORANGE),
    "fasttreeshap": ("v", ORANGE),
    "woodelf": ("x", GREY),
}


def save(figure: Any, name: str) -> None:
    """Write a picture and close it."""
    figure.savefig(FOLDER / f"{name}.svg", facecolor="white", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def read_times() -> dict[str, dict[str, float]]:
    """Read the milliseconds a row for 300 rows, by table and method."""
    text = PRINTED.read_text()
    times: dict[str, dict[str, float]] = {}
    for table in TABLES:
        section = text.split(f"### {table}\n", 1)[1].split("\n### ", 1)[0]
        lines = [
            [cell.strip() for cell in line.strip("|\n").split("|")] for line in section.splitlines() if "|" in line
        ]
        column = next(i for i, name in enumerate(lines[0]) if name.startswith("300 rows"))
        times[table] = {line[0]: float(re.sub(r" \(.*", "", line[column])) for line in lines[2:]}
    return times


def draw_speed() -> None:
    """Draw the time of each method on each table."""
    times = read_times()
    figure, ax = plt.subplots(figsize=(8, 3.6))
    for method, (marker, colour) in LOOKS.items():
        values = [times[table][method] for table in TABLES]
        filled = colour == BLUE
        ax.plot(
            values, range(len(TABLES)), marker, color=colour, label=method, markersize=8 if filled else 7,
            markerfacecolor=colour if filled else "none", alpha=0.95,
        )  # fmt: skip
    ax.set(xscale="log", yticks=range(len(TABLES)), xlabel="CPU milliseconds a row, 300 rows in one call, one thread")
    ax.set_yticklabels(TABLES)
    ax.invert_yaxis()
    ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(axis="x", color="#e4e6ea")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    save(figure, "speed")


def draw_cell() -> None:
    """Draw the leaves of a tree, and the projected cell of a row for the set of one variable."""
    rng = np.random.default_rng(4)
    rows = rng.random((60, 2))
    kept = (rows[:, 0] < 0.55) ^ (rng.random(60) < 0.12)
    x = (0.25, 0.3)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.5), sharey=True)
    for ax in axes:
        ax.plot([0, 1], [0.5, 0.5], color=GREY, lw=1.2)
        ax.plot([0.45, 0.45], [0, 0.5], color=BLUE, lw=1.8)
        ax.plot([0.65, 0.65], [0.5, 1], color=BLUE, lw=1.8)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="$X_1$, in S", xticks=[], yticks=[])
    axes[0].set(ylabel="$X_2$, not in S", title="The leaves of a tree")
    axes[0].fill_between([0, 0.45], 0, 0.5, color=PALE)
    axes[1].set(title="The projected cell of x for S = {$X_1$}")
    axes[1].fill_between([0, 0.45], 0, 1, color=PALE)
    inside = [(rows[:, 0] < 0.45) & (rows[:, 1] < 0.5), rows[:, 0] < 0.45]
    for ax, cell in zip(axes, inside, strict=True):
        for outcome, marker in ((kept, "o"), (~kept, "^")):
            ax.scatter(*rows[outcome & cell].T, s=26, marker=marker, color=BLUE if marker == "o" else ORANGE)
            ax.scatter(*rows[outcome & ~cell].T, s=26, marker=marker, color="#cfd3d9")
        ax.plot(*x, "*", color="black", markersize=14)
        ax.annotate("x", x, xytext=(8, 4), textcoords="offset points")
        share = kept[cell].mean()
        ax.set_title(f"{ax.get_title()}\nshare that keeps the outcome: {share:.2f}", fontsize=10)
    figure.tight_layout()
    save(figure, "method-cell")


def draw_rule() -> None:
    """Draw the rule of a row of a real explainer over the probability at every point."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.random((1200, 3)), columns=["x1", "x2", "x3"])
    is_kept = (X["x1"] < 0.62) & (X["x2"] < 0.7) & ~((X["x1"] < 0.25) & (X["x2"] > 0.5))
    y = np.where(is_kept ^ (rng.random(1200) < 0.03), "kept", "other")
    explainer = SufficientExplainer(random_state=0, unseen="missing").fit(X, y)
    row = pd.DataFrame({"x1": [0.42], "x2": [0.35], "x3": [0.5]})
    S = ["x1", "x2"]
    rule = explainer.rule(row, [S], ["kept"])[0]
    ticks = (np.arange(120) + 0.5) / 120
    grid = pd.DataFrame({"x1": np.tile(ticks, 120), "x2": np.repeat(ticks, 120), "x3": 0.5})
    good = explainer.sdp(grid, S, ["kept"] * len(grid)).reshape(120, 120) >= explainer.pi_
    low, high = np.zeros(2), np.ones(2)
    for condition in rule.conditions:
        i = S.index(condition.name)
        low[i], high[i] = max(condition.low, 0), min(condition.high, 1)
    figure, ax = plt.subplots(figsize=(5.4, 4.4))
    ax.imshow(good, origin="lower", extent=(0, 1, 0, 1), cmap=mpl.colors.ListedColormap(["#f4dfcf", PALE]))
    near = X[::8]
    sdps = explainer.sdp(near, S, ["kept"] * len(near)) >= explainer.pi_
    ax.scatter(near["x1"][sdps], near["x2"][sdps], s=9, color=BLUE)
    ax.scatter(near["x1"][~sdps], near["x2"][~sdps], s=12, marker="^", color=ORANGE)
    ax.add_patch(plt.Rectangle(low, *(high - low), fill=False, lw=2.4, edgecolor="black"))
    ax.plot(row["x1"], row["x2"], "*", color="black", markersize=15)
    ax.set(xlabel="$X_1$", ylabel="$X_2$", xticks=[], yticks=[])
    ax.text(0.5, 1.02, "pale blue: SDP >= pi at this point; orange: below", ha="center", fontsize=9)
    save(figure, "method-rule")


def draw_walks() -> None:
    """Draw how sets part on their way through the splits of a tree."""
    figure, ax = plt.subplots(figsize=(8.4, 3.0))
    edges = [
        ((0, 2), (3, 3.1), "with a"), ((0, 2), (3, 0.6), "without a"),
        ((3, 3.1), (6, 4.0), "with b"), ((3, 3.1), (6, 2.2), "without b"), ((3, 0.6), (6, 0.6), "all have b"),
        ((6, 4.0), (9, 4.0), "none has c"), ((6, 2.2), (9, 2.9), "with c"), ((6, 2.2), (9, 1.6), "without c"),
        ((6, 0.6), (9, 0.6), "all have c"),
    ]  # fmt: skip
    for (x0, y0), (x1, y1), text in edges:
        ax.plot([x0, x1], [y0, y1], color=GREY, lw=1.5, zorder=1)
        ax.text(x0 + 0.58 * (x1 - x0), y0 + 0.58 * (y1 - y0) + 0.16, text, ha="center", fontsize=8, color="#5c6169")
    nodes = {
        (0, 2): "{a} {a,b} {a,c} {b,c}", (3, 3.1): "{a} {a,b} {a,c}", (3, 0.6): "{b,c}", (6, 4.0): "{a,b}",
        (6, 2.2): "{a} {a,c}", (6, 0.6): "{b,c}", (9, 4.0): "{a,b}", (9, 2.9): "{a,c}", (9, 1.6): "{a}",
        (9, 0.6): "{b,c}",
    }  # fmt: skip
    for place, text in nodes.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": PALE, "edgecolor": BLUE}
        ax.text(*place, text, ha="center", va="center", fontsize=9, bbox=box)
    for x, text in ((1.6, "split on a"), (4.6, "split on b"), (7.6, "split on c")):
        ax.text(x, -0.3, text, ha="center", fontsize=9, weight="bold")
    ax.set(xlim=(-1.3, 9.6), ylim=(-0.5, 4.5))
    ax.axis("off")
    save(figure, "method-walks")


def main() -> None:
    """Write all pictures."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "suffice", "font.family": "sans-serif"})
    for draw in (draw_speed, draw_cell, draw_rule, draw_walks):
        draw()


if __name__ == "__main__":
    main()
