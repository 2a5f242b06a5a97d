"""Other methods that propose changes, one row at a time: DiCE, NICE, alibi, feature tweaking, the nearest unlike row.

Each is run by `propose` in a process of its own, with a limit on its time, and in the environment that has it. That
process reads a `Problem` and writes points: ``python -m experiments.counterfactual_peers``. Nothing of `suffice` is
imported here, since some of these environments do not have it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import selectors
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.counterfactual_tables import Floats, OnFrames, Problem

Propose: TypeAlias = Callable[[Floats], Floats | None]
ROOT = Path(__file__).parents[1]
START_SECONDS = 120.0


@dataclass(frozen=True, eq=False)
class Proposals:
    """What a method proposed within its time.

    Parameters
    ----------
    points : ndarray of shape (n_answered, n_columns)
        For each row that was answered, in their order, a point; NaN if the method found none.
    seconds : list of float
        Wall seconds of each.
    notes : list of str
        Why rows were left out.
    """

    points: Floats
    seconds: list[float]
    notes: list[str]


def propose(name: str, problem: Problem, rows: Floats, *, seed: int, seconds: float) -> Proposals:
    """Ask a method for points that reach the target, one for each row, until the time is up.

    Parameters
    ----------
    name : str
        One of `PEERS`.
    problem : Problem
        The model, its training rows and the target.
    rows : ndarray of shape (n_rows, n_columns)
        The rows.
    seed : int
        The seed of methods that draw.
    seconds : float
        The limit on the time of all rows. The start of the process and of the method does not count.

    Returns
    -------
    Proposals
        The points.
    """
    python = _python_of(name)
    if python is None:
        return Proposals(np.empty((0, rows.shape[1])), [], [f"{name} was left out: it is not installed."])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.pkl"
        path.write_bytes(pickle.dumps((name, problem, rows, seed)))
        command = [str(python), "-m", "experiments.counterfactual_peers", str(path)]
        env = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE)
        try:
            return _read_answers(name, process, rows, seconds)
        finally:
            process.kill()
            process.communicate()


def _read_answers(name: str, process: Any, rows: Floats, seconds: float) -> Proposals:
    """Read one line for the start of the method and one for each row."""
    points: list[Any] = []
    taken: list[float] = []
    notes: list[str] = []
    lines = _Lines(process.stdout)
    first = lines.next_within(START_SECONDS)
    if not first or json.loads(first) != "ready":
        reason = json.loads(first) if first else "it did not start."
        return Proposals(np.empty((0, rows.shape[1])), [], [f"{name} was left out: {reason}"])
    begun = time.perf_counter()
    while len(points) < len(rows):
        line = lines.next_within(begun + seconds - time.perf_counter())
        if not line:
            why = f"its time of {seconds:g} s was up" if line is None else "its process ended"
            notes.append(f"{name} answered {len(points)} of {len(rows)} rows: {why}.")
            break
        answer = json.loads(line)
        if answer["problem"]:
            notes.append(f"{name} found nothing for a row: {answer['problem']}")
        points.append(answer["point"] or [np.nan] * rows.shape[1])
        taken.append(answer["seconds"])
    return Proposals(np.array(points, dtype=np.float64).reshape(-1, rows.shape[1]), taken, notes)


class _Lines:
    """Lines of a pipe, each waited for no longer than a number of seconds."""

    def __init__(self, pipe: Any) -> None:
        self.pipe, self.ready = pipe, b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(pipe, selectors.EVENT_READ)

    def next_within(self, seconds: float) -> str | None:
        """Return the next line, an empty one at the end of the pipe, None if there is none in time."""
        until = time.perf_counter() + seconds
        while b"\n" not in self.ready:
            if not self.selector.select(max(until - time.perf_counter(), 0.0)):
                return None
            if not (more := os.read(self.pipe.fileno(), 65536)):
                return ""
            self.ready += more
        line, _, self.ready = self.ready.partition(b"\n")
        return line.decode()


def _python_of(name: str) -> Path | None:
    """Find the interpreter whose environment has the package of a method."""
    package, environment = PEERS[name].package, PEERS[name].environment
    if environment is not None:
        python = ROOT / environment / "bin" / "python"
        return python if python.exists() else None
    with contextlib.suppress(ImportError):
        if package is not None:
            __import__(package)
        return Path(sys.executable)
    return None


# --- the methods ------------------------------------------------------------------------------------------------------


def make_dice(problem: Problem, seed: int, method: str) -> Propose:
    """Make DiCE, which draws ("random", its default) or breeds ("genetic") points, with its own settings."""
    import dice_ml

    columns, train = problem.columns, problem.columns.decode(problem.train)
    numbers = [columns.names[position] for position in columns.numbers]
    data = dice_ml.Data(
        dataframe=train.assign(outcome=problem.model.predict(problem.train)),
        continuous_features=numbers,
        outcome_name="outcome",
    )
    kind = "classifier" if problem.is_class else "regressor"
    model = dice_ml.Model(model=OnFrames(problem.model, columns), backend="sklearn", model_type=kind)
    explainer = dice_ml.Dice(data, model, method=method)
    wanted = {"desired_class": problem.target} if problem.is_class else {"desired_range": list(problem.target)}
    if method == "random":
        wanted["random_seed"] = seed
    np.random.seed(seed)  # noqa: NPY002 (DiCE draws from it)

    def propose_point(row: Floats) -> Floats | None:
        frame = columns.decode(row[None])
        found = explainer.generate_counterfactuals(frame, total_CFs=1, verbose=False, **wanted).cf_examples_list[0]
        points = found.final_cfs_df
        if points is None or not len(points):
            return None
        points = points[list(columns.names)].astype(dict.fromkeys(numbers, float))
        return columns.encode(points)[0]

    return propose_point


def make_nice(problem: Problem, seed: int, optimization: str) -> Propose:
    """Make NICE: the nearest unlike row ("none"), or values of it one by one ("sparsity", "proximity")."""
    from nice import NICE

    explainer = NICE(
        problem.probabilities,
        problem.train.copy(),
        sorted(problem.columns.categories),
        y_train=problem.reaches(problem.train).astype(int),
        optimization=optimization,
    )
    return lambda row: np.asarray(explainer.explain(row[None].copy(), target_class=[1]), dtype=np.float64)[0]


def make_alibi(problem: Problem, seed: int) -> Propose:
    """Make alibi's counterfactuals guided by prototypes, on numbers scaled to [0, 1], with k-d trees."""
    import tensorflow as tf
    from alibi.explainers import CounterfactualProto

    tf.compat.v1.disable_v2_behavior()
    tf.compat.v1.set_random_seed(seed)
    low, high = problem.train.min(axis=0), problem.train.max(axis=0)
    codes = sorted(problem.columns.categories)
    low[codes], high[codes] = 0.0, 1.0
    scale = np.where(high > low, high - low, 1.0)
    train = ((problem.train - low) / scale).astype(np.float32)
    explainer = CounterfactualProto(
        lambda rows: problem.probabilities(np.asarray(rows, dtype=np.float64) * scale + low),
        shape=(1, train.shape[1]),
        theta=10.0,
        feature_range=(train.min(axis=0)[None], train.max(axis=0)[None]),
        cat_vars={position: len(problem.columns.categories[position]) for position in codes} or None,
        use_kdtree=True,
        max_iterations=500,
        c_steps=3,
    )
    explainer.fit(train, d_type="abdm", disc_perc=[25, 50, 75])

    def propose_point(row: Floats) -> Floats | None:
        scaled = ((row - low) / scale).astype(np.float32)[None]
        found = explainer.explain(scaled, target_class=[1]).cf
        if found is None:
            return None
        point = np.asarray(found["X"], dtype=np.float64)[0] * scale + low
        point[codes] = np.round(point[codes])
        # What was not moved is the row's own value, not its neighbour after two conversions.
        unmoved = np.isclose(point, row, rtol=1e-5, atol=1e-5 * scale)
        return np.where(unmoved, row, point)

    return propose_point


def make_tweaking(problem: Problem, seed: int, share: float = 0.01) -> Propose:
    """Make feature tweaking (Tolomei et al., 2017) of a forest: the nearest point just inside a leaf that is wanted.

    For each leaf whose own answer is wanted, the row's values are moved past the thresholds on the way to it by a
    share of the standard deviation. Points are tried in the order of their distance, until the forest agrees.
    """
    columns = problem.columns
    steps = list(problem.model.steps)
    prepare, forest = steps[0][1], steps[-1][1]
    order = [*sorted(columns.categories), *columns.numbers]
    spread = prepare.transform(problem.train).std(axis=0)
    spread[spread == 0] = 1.0
    boxes = [box for tree in forest.estimators_ for box in _wanted_leaves(tree.tree_, forest, problem)]
    lower, upper = (np.array([box[end] for box in boxes]) for end in (0, 1))
    n_codes = [len(columns.categories[position]) for position in sorted(columns.categories)]
    ends = np.cumsum([0, *n_codes])

    def propose_point(row: Floats) -> Floats | None:
        prepared = prepare.transform(row[None])[0]
        moved = np.where(prepared > upper, upper - share * spread, prepared)
        moved = np.where(moved <= lower, lower + share * spread, moved)
        points = np.tile(row, (len(moved), 1))
        is_valid = np.ones(len(moved), dtype=bool)
        for i, position in enumerate(order):
            if i < len(n_codes):  # a category, as indicators: exactly one of them has to be 1
                indicators = moved[:, ends[i] : ends[i + 1]] > 0.5
                previous = int(row[position])
                has_new = indicators.sum(axis=1) == 2  # the row's own category is still allowed: take the new one
                indicators[has_new, previous] = False
                is_valid &= indicators.sum(axis=1) == 1
                points[:, position] = indicators.argmax(axis=1)
            else:
                points[:, position] = moved[:, ends[-1] + i - len(n_codes)]
        distance = (((moved - prepared) / spread) ** 2).sum(axis=1)
        distance[~is_valid] = np.inf
        nearest = np.argsort(distance, kind="stable")[: np.count_nonzero(is_valid)]
        for start in range(0, len(nearest), 500):
            batch = points[nearest[start : start + 500]]
            if (reached := problem.reaches(batch)).any():
                return batch[int(np.argmax(reached))]
        return None

    return propose_point


def _wanted_leaves(tree: Any, forest: Any, problem: Problem) -> list[tuple[Floats, Floats]]:
    """Return the boxes, open below and closed above, of the leaves whose own answer is wanted."""
    leaves = []
    stack = [(0, np.full(forest.n_features_in_, -np.inf), np.full(forest.n_features_in_, np.inf))]
    while stack:
        node, lower, upper = stack.pop()
        if tree.children_left[node] < 0:
            value = tree.value[node].ravel()
            if isinstance(problem.target, tuple):
                is_wanted = problem.target[0] <= value[0] <= problem.target[1]
            else:
                is_wanted = forest.classes_[value.argmax()] == problem.target
            if is_wanted:
                leaves.append((lower, upper))
            continue
        column, threshold = tree.feature[node], tree.threshold[node]
        below, above = upper.copy(), lower.copy()
        below[column] = min(below[column], threshold)
        above[column] = max(above[column], threshold)
        stack += [(tree.children_left[node], lower, below), (tree.children_right[node], above, upper)]
    return leaves


@dataclass(frozen=True)
class Peer:
    """A method, the package that it needs, the environment of its own if it has one, and the models it can ask."""

    make: Callable[[Problem, int], Propose]
    package: str | None = None
    environment: str | None = None
    models: tuple[str, ...] = ("forest", "network")


PEERS = {
    "DiCE, random": Peer(lambda problem, seed: make_dice(problem, seed, "random"), "dice_ml"),
    "DiCE, genetic": Peer(lambda problem, seed: make_dice(problem, seed, "genetic"), "dice_ml"),
    "NICE, sparsity": Peer(lambda problem, seed: make_nice(problem, seed, "sparsity"), "nice"),
    "nearest unlike row": Peer(lambda problem, seed: make_nice(problem, seed, "none"), "nice"),
    "alibi, prototypes": Peer(make_alibi, "alibi", ".venv-alibi"),
    "feature tweaking": Peer(make_tweaking, models=("forest",)),
}


def main(path: str) -> None:
    """Write "ready", then a point for each row, as lines of JSON; what the methods print goes elsewhere."""
    answers = os.fdopen(os.dup(1), "w")

    def answer(value: Any) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere:
        warnings.simplefilter("ignore")
        os.dup2(nowhere.fileno(), 2)
        os.dup2(nowhere.fileno(), 1)
        try:
            name, problem, rows, seed = pickle.loads(Path(path).read_bytes())
            propose_point = PEERS[name].make(problem, seed)
        except Exception as error:  # the page says which method failed, and how
            return answer(f"{type(error).__name__}: {str(error).splitlines()[0][:200]}")
        answer("ready")
        for row in rows:
            start, point, trouble = time.perf_counter(), None, ""
            try:
                point = propose_point(row)
            except Exception as error:  # DiCE and NICE raise where they find nothing
                trouble = f"{type(error).__name__}: {(str(error) or 'no message').splitlines()[0][:200]}"
            seconds = time.perf_counter() - start
            answer({"point": None if point is None else point.tolist(), "seconds": seconds, "problem": trouble})
    return None


if __name__ == "__main__":
    main(sys.argv[1])
