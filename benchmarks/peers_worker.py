"""A method of ``benchmarks.peers``, in its own environment: ``python -m benchmarks.peers_worker METHOD FOLDER``.

The folder has what is explained: ``meta.json`` (names, columns of categories, whether outcomes are classes, pi),
``train.npy`` and ``outputs.npy`` (the model's outputs for the training rows), ``more.npy`` and ``labels.npy`` (further
rows with their outcomes, to calibrate on), ``rows.npy``, ``held.npy`` and ``model.pkl``. A request with a seed fits the
explainer; one with a row is answered by the text as the method prints it, the variables, the held-out rows that the
rule covers, and what it promises.
"""

from __future__ import annotations

import json
import pickle
import random
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from benchmarks.turns import serve


def load(folder):
    data = SimpleNamespace(**json.loads((folder / "meta.json").read_text()))
    for path in folder.glob("*.npy"):
        setattr(data, path.stem, np.load(path))
    data.path = folder / "model.pkl"
    return data


def load_model(data):
    return pickle.loads(data.path.read_bytes())  # written by the benchmark itself


def inside(X, box):
    """Rows in a box: low < x <= high by column; or a set of values."""
    kept = np.ones(len(X), dtype=bool)
    for j, ends in box.items():
        kept &= np.isin(X[:, j], ends[0]) if len(ends) == 1 else (X[:, j] > ends[0]) & (X[:, j] <= ends[1])
    return np.flatnonzero(kept).tolist()


def answer(data, text, columns, covered=None, interval=None):
    return {"text": text, "variables": sorted(data.names[j] for j in columns), "covered": covered, "interval": interval}


class Suffice:
    """`SufficientExplainer.for_model(model, table)` as it is: the best set, and its rule."""

    def __init__(self, data):
        import pandas as pd

        self.data, self.model = data, load_model(data)
        self.train, self.rows, self.held = (
            pd.DataFrame(X, columns=data.names) for X in (data.train, data.rows, data.held)
        )

    def fit(self, seed):
        from suffice import SufficientExplainer

        self.explainer = SufficientExplainer.for_model(_Named(self.model), self.train, random_state=seed, n_jobs=1)

    def explain(self, i):
        explanation = self.explainer.explain(self.rows.iloc[[i]], sets="minimal")[0]
        if not explanation.is_sufficient:
            return None
        rule, columns = explanation.rule, [self.data.names.index(v) for v in explanation.best_set.variables]
        if rule is None:
            return answer(self.data, f"{explanation.best_set}", columns)
        covered = np.flatnonzero(rule.covers(self.held)).tolist()
        return answer(self.data, str(rule), columns, covered, rule.interval and [float(end) for end in rule.interval])


class _Named:
    """Lets a model that was fitted on arrays predict frames."""

    def __init__(self, model):
        self.predict = lambda X: model.predict(np.asarray(X, dtype=np.float64))
        self._estimator_type = "classifier" if hasattr(model, "classes_") else "regressor"
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_


class Acv:
    """`ACXplainer` of the authors, with its own forest: importance_sdp_rf, then compute_sdp_maxrules."""

    def __init__(self, data):
        self.data = data
        self.outputs = data.outputs.astype(float)

    def fit(self, seed):
        from acv_explainers import ACXplainer

        self.explainer = ACXplainer(classifier=self.data.is_class, n_estimators=50, max_depth=8, seed=seed)
        self.explainer.fit(self.data.train, self.outputs)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (its annealing draws from it)

    def explain(self, i):
        row, y = self.data.rows[[i]], self.data.row_outputs[[i]].astype(float)
        known = (row, y, self.data.train, self.outputs)
        _, index, size, sdp = self.explainer.importance_sdp_rf(*known, pi_level=self.data.pi)
        if sdp[0] < self.data.pi:
            return None
        S = [int(j) for j in index[0][: int(size[0])]]
        _, rules, *_ = self.explainer.compute_sdp_maxrules(*known, S=[S], pi_level=self.data.pi)
        box = {j: [float(end) for end in rules[0][j]] for j in S}
        text = " AND ".join(f"{low:g} < {self.data.names[j]} <= {high:g}" for j, (low, high) in box.items())
        interval = None
        if not self.data.is_class:
            interval = self.explainer.model.predict_quantiles(row, quantiles=[0.05, 0.95])[0].tolist()
        return answer(self.data, f"{text} (SDP {sdp[0]:.2f})", S, inside(self.data.held, box), interval)


class Anchors:
    """anchor-exp at the level pi."""

    def __init__(self, data):
        from anchor.anchor_tabular import AnchorTabularExplainer

        class Explainer(AnchorTabularExplainer):
            def add_names_to_exp(self, data_row, hoeffding_exp, mapping):
                self.conditions = [mapping[i] for i in hoeffding_exp["feature"]]
                super().add_names_to_exp(data_row, hoeffding_exp, mapping)

        self.data, self.model = data, load_model(data)
        categories = {
            int(j): [str(v) for v in range(int(max(data.train[:, j].max(), data.held[:, j].max())) + 1)]
            for j in data.categories
        }
        self.explainer = Explainer([str(c) for c in self.model.classes_], data.names, data.train, categories)
        self.bins = self.explainer.disc.discretize(data.held).astype(int)

    def fit(self, seed):
        self.seed = seed

    def explain(self, i):
        np.random.seed(1000 * self.seed + i)  # noqa: NPY002 (anchor-exp draws from it)
        found = self.explainer.explain_instance(self.data.rows[i], self.model.predict, threshold=self.data.pi)
        covered = np.ones(len(self.bins), dtype=bool)
        for column, sign, edge in self.explainer.conditions:
            values = self.bins[:, column]
            covered &= {"leq": values <= edge, "geq": values > edge, "eq": values == edge}[sign]
        text = f"{' AND '.join(found.names()) or 'always'} (precision {found.precision():.2f})"
        columns = {int(column) for column, _, _ in self.explainer.conditions}
        return answer(self.data, text, columns, np.flatnonzero(covered).tolist())


class Lore:
    """lore_sa: a tree on a genetic neighbourhood; the path of the row is its rule."""

    def __init__(self, data):
        import pandas as pd
        from lore_sa.bbox import sklearn_classifier_bbox
        from lore_sa.dataset import TabularDataset

        self.data = data
        table = pd.DataFrame(data.train, columns=data.names).assign(outcome=data.outputs.astype(str))
        self.dataset = TabularDataset(table, class_name="outcome")
        model = load_model(data)
        words = SimpleNamespace(predict=lambda X: model.predict(X).astype(str), predict_proba=model.predict_proba)
        self.box = sklearn_classifier_bbox.sklearnBBox(words)

    def fit(self, seed):
        from lore_sa.lore import TabularGeneticGeneratorLore

        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (lore_sa draws from it)
        self.explainer = TabularGeneticGeneratorLore(self.box, self.dataset)

    def explain(self, i):
        rule = self.explainer.explain(self.data.rows[i])["rule"]
        box, conditions = {}, []
        for premise in rule["premises"]:
            j, value = self.data.names.index(premise["attr"]), float(premise["val"])
            low, high = box.get(j, (-np.inf, np.inf))
            box[j] = (max(low, value), high) if premise["op"] in (">", ">=") else (low, min(high, value))
            conditions.append(f"{premise['attr']} {premise['op']} {value:g}")
        return answer(self.data, " AND ".join(conditions) or "always", box, inside(self.data.held, box))


class RuleXai:
    """RuleXAI: of its rules for the forest's outputs the one of the row's output that covers it and most rows."""

    def __init__(self, data):
        self.data = data

    def fit(self, seed):
        import pandas as pd
        from rulexai.explainer import Explainer

        outputs = pd.Series(self.data.outputs.astype(int).astype(str), name="output")
        self.explainer = Explainer(pd.DataFrame(self.data.train, columns=self.data.names), outputs)
        self.explainer.explain()

    def explain(self, i):
        output = str(int(self.data.row_outputs[i]))
        rules = [rule for rule in self.explainer.model.rules if str(rule.consequence.left) == output]
        rules = [rule for rule in rules if rule.premise.covered_mask(self.data.rows[[i]])[0]]
        if not rules:
            return None
        premise = max(rules, key=lambda rule: rule.premise.covered_mask(self.data.train).sum()).premise
        columns = {self.data.names.index(condition.attribute) for condition in premise.get_subconditions()}
        return answer(self.data, str(premise), columns, np.flatnonzero(premise.covered_mask(self.data.held)).tolist())


class Calibrated:
    """calibrated-explanations: weights of one condition for each variable, with Venn-Abers or conformal intervals."""

    def __init__(self, data):
        self.data, self.model = data, load_model(data)

    def fit(self, seed):
        from calibrated_explanations import WrapCalibratedExplainer

        self.explainer = WrapCalibratedExplainer(self.model)
        mode = "classification" if self.data.is_class else "regression"
        self.explainer.calibrate(
            self.data.more, self.data.labels, mode=mode, feature_names=self.data.names, seed=seed,
            categorical_features=self.data.categories,
        )  # fmt: skip

    def explain(self, i):
        found = self.explainer.explain_factual(self.data.rows[[i]])[0].get_rules()
        order = np.argsort(-np.abs(np.asarray(found["weight"], dtype=float)), kind="stable")
        conditions = [f"{found['rule'][k]} ({float(found['weight'][k]):+.2f})" for k in order]
        value, low, high = (found[key][0] for key in ("base_predict", "base_predict_low", "base_predict_high"))
        stated = f"{value:.2f} in [{low:.2f}, {high:.2f}]"
        top = [int(np.ravel(found["feature"][k])[0]) for k in order[:3]]
        return {**answer(self.data, f"{stated}: {'; '.join(conditions[:3])}", top), "n_conditions": len(order)}


class Pyxai:
    """PyXAI: a sufficient reason of the forest, proven, of conditions on the model's own splits."""

    def __init__(self, data):
        import pandas as pd
        from pyxai import Explaining, Learning, Tools

        Tools.set_verbose(0)
        self.data, self.columns = data, [f"c{j}" for j in range(len(data.names))]
        table = pd.DataFrame(data.train, columns=self.columns).assign(label=data.outputs)
        _, trees = Learning.ModelIO.import_models(load_model(data), table)
        self.series = lambda i: pd.Series(data.rows[i], self.columns)
        self.explainer = Explaining.initialize(
            trees, instance=self.series(0), features_type={"numerical": Learning.DEFAULT}
        )

    def fit(self, seed):
        random.seed(seed)

    def explain(self, i):
        self.explainer.set_instance(self.series(i))
        reason = self.explainer.sufficient_reason(time_limit=10)
        if not reason:
            return None
        box, features = {}, [str(text) for text in self.explainer.to_features(reason)]
        for text in features:
            name, sign, *ends = text.replace(",", " ").replace("]", "").replace("[", "").split()
            j, values = self.columns.index(name), [float(end) for end in ends]
            low, high = box.get(j, (-np.inf, np.inf))
            if sign in (">", ">=", "in"):
                low = max(low, values[0])
            if sign in ("<", "<=", "in"):
                high = min(high, values[-1])
            box[j] = (low, high)
        text = " AND ".join(" ".join([self.data.names[int(t.split()[0][1:])], *t.split()[1:]]) for t in features)
        return answer(self.data, text, box, inside(self.data.held, box))


METHODS = {
    "suffice": Suffice,
    "acv": Acv,
    "PyXAI": Pyxai,
    "Anchors": Anchors,
    "LORE": Lore,
    "RuleXAI": RuleXai,
    "calibrated": Calibrated,
}


def main(method, folder):
    warnings.simplefilter("ignore")
    explainer = METHODS[method](load(folder))
    serve({"fit": lambda seed: explainer.fit(seed) or 0.0, "row": lambda i: {"answer": explainer.explain(i)}})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
