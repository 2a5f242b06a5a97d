from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from proof_models import forest_ensemble, stump_model
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import Rule, SufficientExplainer, rule
from suffice._forest.trees import spaced_rows
from suffice._table.condition import Condition
from suffice.explaining.proof import Proof
from suffice.proofs.proving import N_MOVED

TABLE = pd.DataFrame({"age": [20.0, 25, 31, 40, 50, 60], "job": ["cook", "smith", "cook", "smith", "cook", "cook"]})


def make_rule(conditions, outcome, interval=None):
    return Rule(tuple(conditions), outcome, interval, 0.9, 10, 0.1, 0.9, None, True, 10.0, False)


OLD = Condition("age", 30.0)
COOK = Condition("job", labels=("cook",))


def test_a_rule_that_the_model_keeps_everywhere_is_proven():
    rule = make_rule([Condition("age", high=30.0), COOK], "no").check_model(stump_model(), TABLE)
    assert rule.proof == Proof("proven", "two stumps", 1, 1)
    assert rule.proof.text == (
        "Proven for the model: no row within these bounds is decided otherwise. The model agrees at 1 of 1 row of the "
        "table within these bounds."
    )
    assert rule.to_sql().endswith("/* proven for the model: no row within these bounds is decided otherwise */")
    assert Rule.from_dict(rule.to_dict()) == rule
    assert "Proven for the model" in rule.checked_text
    assert "proof" not in make_rule([OLD], "no").to_dict()


def test_a_row_of_the_table_that_is_decided_otherwise_is_the_exception():
    rule = make_rule([Condition("job", labels=("cook", "smith"))], "no").check_model(stump_model(), TABLE)
    assert (rule.proof.verdict, rule.proof.n_rows, rule.proof.n_kept) == ("refuted", 6, 2)
    assert rule.proof.counterexample == {"age": 31, "job": "cook"}
    assert rule.proof.sentence == "An exception exists: two stumps decides yes at job = cook and age = 31."
    assert rule.proof.row == 2
    assert rule.proof.plausibility_text == "It is row 2 of the table."


def test_an_exception_between_the_rows_is_near_to_them():
    rule = make_rule([Condition("age", high=30.0)], "no")
    table = TABLE.assign(job=["cook", "smith", "nurse", "smith", "cook", "cook"])
    proof = rule.check_model(stump_model(), table).proof
    assert proof.counterexample == {"age": 30, "job": "nurse"}
    assert (proof.n_changed, proof.distance, proof.decided) == (1, 1 / 40, "yes")
    assert proof.unusual == 1.0


def test_of_moved_rows_the_one_that_is_moved_least_is_the_exception():
    table = pd.DataFrame({"age": [20.0, 25, 22.5], "job": ["cook", "smith", "cook"]})
    proof = make_rule([Condition("age", 50.0)], "no").check_model(stump_model(), table, domain={"age": (0, 90)}).proof
    assert (proof.counterexample["job"], proof.n_changed) == ("smith", 1)


def test_a_row_that_is_an_exception_is_stated_however_many_rows_there_are():
    """Only every third row is moved into the bounds, and there are exceptions that are no rows."""
    n, place = 3000, 1502
    assert place not in spaced_rows(n, N_MOVED)
    jobs = np.where(np.arange(n) == place, "nurse", "cook")
    table = pd.DataFrame({"age": np.linspace(20, 29, n), "job": jobs})
    proof = make_rule([Condition("age", high=30.0)], "no").check_model(stump_model(), table).proof
    assert (proof.row, proof.distance, proof.counterexample["age"]) == (place, 0, table.age[place])


def test_the_domain_may_be_stated():
    rule = make_rule([Condition("age", high=30.0)], "no")
    assert rule.check_model(stump_model(), TABLE).proof.verdict == "proven"
    stated = {"job": ["cook", "smith", "nurse"]}
    assert rule.check_model(stump_model(), TABLE, domain=stated).proof.verdict == "refuted"
    old = make_rule([Condition("age", 70.0)], "yes")
    with pytest.raises(ValueError, match=r"No point of the domain .*age > 70.*nothing of 'age'. State a `domain`"):
        old.check_model(stump_model(), TABLE)
    assert old.check_model(stump_model(), TABLE, domain={"age": (0, 100)}).proof.verdict == "proven"


def test_columns_of_a_group_take_the_combinations_of_the_table():
    """Without the group, age and job would be free of each other."""
    rule = make_rule([Condition("job", labels=("smith",)), OLD], "no")
    assert rule.check_model(stump_model(), TABLE.iloc[[0, 1, 2]]).proof.verdict == "refuted"
    with pytest.raises(ValueError, match="nothing of 'who'"):
        rule.check_model(stump_model(), TABLE.iloc[[0, 1, 2]], groups={"who": ["age", "job"]})


def test_a_constraint_between_columns_is_kept():
    forest_table = pd.DataFrame({"low": [1.0, 2, 3, 4], "high": [2.0, 3, 4, 5]})
    forest = RandomForestClassifier(1, bootstrap=False, random_state=0).fit(
        [[a, b] for a in range(6) for b in range(6)], [int(a > b) for a in range(6) for b in range(6)]
    )
    model = forest_ensemble(forest, ["low", "high"])
    rule = make_rule([], 0)
    assert rule.check_model(model, forest_table).proof.verdict == "refuted"
    assert rule.check_model(model, forest_table, constraints=["low <= high"]).proof.verdict == "proven"
    # Equal values satisfy it.
    equal = RandomForestClassifier(1, bootstrap=False, random_state=0).fit(
        [[a, b] for a in range(6) for b in range(6)], [int(a >= b) for a in range(6) for b in range(6)]
    )
    proof = rule.check_model(forest_ensemble(equal, ["low", "high"]), forest_table, constraints=["low <= high"]).proof
    assert proof.counterexample["low"] == proof.counterexample["high"]
    with pytest.raises(ValueError, match="A constraint reads 'a <= b'"):
        rule.check_model(model, forest_table, constraints=["low < hi"])


def test_numbers_have_their_least_and_largest_prediction():
    model = stump_model(decides_by="number", classes=None)
    rule = make_rule([OLD], 1.0, (0.0, 0.5))
    proof = rule.check_model(model, TABLE).proof
    assert (proof.verdict, proof.least, proof.largest, proof.is_exact) == ("proven", 0.25, 0.25, True)
    assert proof.range_text == "Its predictions range from 0.25 to 0.25."
    assert make_rule([], 1.0, (0.0, 0.5)).check_model(model, TABLE).proof.decided == -1.75


@pytest.mark.parametrize(("link", "least", "largest"), [("exp", -1.0, 9.0), ("logistic", 0.0, 1.5)])
def test_an_end_beyond_what_the_link_gives_is_never_passed(link, least, largest):
    """Such models could not be proven about at all: the core refused a flag of NumPy."""
    model = stump_model(decides_by="number", classes=None, link=link)
    [own] = model.apply_link(np.array([0.25])).tolist()
    ends = [(least, largest), (least, own + 0.01), (own - 0.01, largest), (least, own - 0.01), (own + 0.01, largest)]
    proofs = [make_rule([OLD], own, interval).check_model(model, TABLE).proof for interval in ends]
    assert [proof.verdict for proof in proofs] == ["proven"] * 3 + ["refuted"] * 2
    assert (proofs[0].least, proofs[0].largest) == pytest.approx((own, own))


def test_what_lies_within_rounding_is_open():
    """The margin is 0.25 from the cut: a library that rounds that much may decide otherwise."""
    rule = make_rule([OLD], "yes")
    assert rule.check_model(stump_model(rounding=0.2), TABLE).proof.verdict == "proven"
    assert rule.check_model(stump_model(rounding=0.25), TABLE).proof.verdict == "open"


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        (make_rule([OLD], "maybe"), {}, r"The rule says 'maybe', but two stumps decides \['no', 'yes'\]"),
        (make_rule([OLD], 1.0, (0.0, 1.0)), {}, "two stumps decides classes, but the rule is about numbers"),
        (make_rule([Condition("ag", 3.0)], "no"), {}, "two stumps has no column 'ag'.*Did you mean 'age'"),
        (make_rule([OLD], "no"), {"max_nodes": 0}, "`max_nodes` must be at least 1, got 0"),
        (make_rule([OLD], "no"), {"max_seconds": 0}, "`max_seconds` must be a number above 0"),
        (make_rule([OLD], "no"), {"max_seconds": 10**400}, "`max_seconds` must be a number above 0"),
        (
            make_rule([OLD], "no"),
            {"domain": {"age": (3, 1)}},
            r"`domain\['age'\]` must be .* low <= high, got \(3, 1\)",
        ),
        (make_rule([OLD], "no"), {"domain": {"age": 3}}, r"`domain\['age'\]` must be .*, got 3"),
        (make_rule([OLD], "no"), {"domain": {"job": ["vet"]}}, "In `domain` of 'job': unknown label 'vet'"),
        (make_rule([OLD], "no"), {"domain": {"jobs": ["vet"]}}, "In `domain`: unknown column 'jobs'"),
    ],
)
def test_what_cannot_be_proven_is_refused(rule, options, message):
    with pytest.raises(ValueError, match=message):
        rule.check_model(stump_model(), TABLE, **options)


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="needs the rows of a table"):
        make_rule([OLD], "no").check_model(stump_model(), TABLE.iloc[:0])


def test_the_budget_leaves_a_rule_open():
    """Around this row one box does not decide the rule, but a few more do."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    forest = RandomForestClassifier(40, max_depth=6, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2] > 0)
    model = forest_ensemble(forest, [f"x{i}" for i in range(6)])
    near = [Condition(f"x{i}", X[8, i] - 0.05, X[8, i] + 0.05) for i in range(3)]
    rule = make_rule(near, model.decide(X[8:9])[0])
    proof = rule.check_model(model, X, max_nodes=1).proof
    assert proof.sentence == "Open for the model: the budget ended before a proof or an exception was found."
    assert rule.check_model(model, X).proof.verdict != "open"


@pytest.fixture(scope="module")
def explained():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 10, size=(400, 4)).astype(float), columns=list("abcd"))
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X.to_numpy(), (X.a + X.b > 8).to_numpy())
    model = forest_ensemble(forest, list("abcd"))
    explainer = SufficientExplainer.for_model(lambda X: forest.predict(np.asarray(X)), X, random_state=0)
    return X, model, explainer


def test_the_explainer_attaches_proofs(explained):
    X, model, explainer = explained
    explanations = explainer.explain(X[:5])
    proven = explainer.prove(explanations, model)
    assert [len(x) for x in (proven.rules, proven.proofs)] == [len({r.promise for r in explanations.rules})] * 2
    assert proven.attached[0].rule.proof == proven.proofs[0]
    assert proven.attached[0].rule.proof.sentence in str(proven.attached[0])
    assert len(proven.to_frame()) == len(proven.rules)
    assert proven.attached.to_frame("rows")["proof"][0] == proven.proofs[0].verdict
    assert "proof" not in explanations.to_frame("rows")
    assert proven.heading in str(proven)
    assert '"verdict"' in proven.to_json()


def test_another_model_is_refused(explained):
    X, model, explainer = explained
    with pytest.raises(ValueError, match=r"agrees with \d+ % of the outputs .*pass the model that it explains"):
        explainer.prove(explainer.explain(X[:1]), replace(model, value=model.value[:, ::-1].copy()))
    with pytest.raises(ValueError, match="`model` is needed"):
        SufficientExplainer(random_state=0).fit(X, X.a > 4).prove([])


@pytest.mark.parametrize("kind", ["loaded", "of data"])
def test_an_explainer_without_its_model_takes_one(explained, kind, tmp_path):
    """Its table is stored in types that no model can be asked with: an exception raised an IndexError."""
    X, y = explained[0], (explained[0].a + explained[0].b > 8).to_numpy()
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    explainer = SufficientExplainer(random_state=0).for_model(model, X)
    proven, reasons = explainer.prove(explainer.explain(X[:5])), explainer.certain_reasons(X[:3])
    assert "refuted" in {proof.verdict for proof in proven.proofs}
    explainer.save(tmp_path / "e.suffice")
    if kind == "loaded":
        other = SufficientExplainer.load(tmp_path / "e.suffice")
    else:
        other = SufficientExplainer(random_state=0).fit(X, model.predict(X))
    again = other.prove(proven.rules, model)
    assert [proof.verdict for proof in again.proofs] == [proof.verdict for proof in proven.proofs]
    assert [reason.variables for reason in other.certain_reasons(X[:3], model)] == [one.variables for one in reasons]


def test_certain_reasons_are_told(explained):
    X, model, explainer = explained
    reasons = explainer.certain_reasons(X[:3], model)
    assert [reason.is_smallest for reason in reasons] == [True] * 3
    first = reasons[0]
    assert set(first.variables) <= {"a", "b", "c", "d"}
    assert first.sentence.startswith("Proven: RandomForestClassifier (20 trees) decides ")
    assert first.nearest.is_exact
    assert first.nearest.sentence in str(reasons)
    assert len(reasons.to_frame()) == 3
    # Every row of the table within the bounds is decided the same.
    for reason in reasons:
        inside = np.all([condition.covers(X[condition.column].to_numpy()) for condition in reason.conditions], axis=0)
        assert inside[reason.row]
        assert set(model.decide(X.to_numpy()[inside]).tolist()) == {reason.outcome}


def test_explaining_over_the_model_gives_certain_reasons(explained):
    X, model, explainer = explained
    reasons = explainer.certain_reasons(X[:2], model, excluded=["d"])
    assert list(explainer.explain(X[:2], pi=1, over="model", model=model, excluded=["d"])) == list(reasons)
    assert list(explainer.explain(X[:2], over="model", model=model, progress=False, excluded=["d"])) == list(reasons)
    # The rows of the data are the default.
    assert explainer.explain(X[:2], pi=1, over="data").pi == 1
    assert explainer.explain(X[:2], over="data").pi == explainer.pi_


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"pi": 0.9},
            ValueError,
            r'With `over="model"`, `pi` must be 1, got 0.9: .* For a probability, leave `over` out',
        ),
        ({"y": [True], "ids": "a"}, ValueError, "`ids` and `y` cannot be set: the decisions of the model itself"),
        ({"sets": "all", "check": "rows"}, ValueError, "`check` and `sets` cannot be set"),
        ({"rules": None}, ValueError, "`rules` cannot be set"),
        ({"volume": "lebesgue", "progress": True}, ValueError, "`progress` and `volume` cannot be set"),
        ({"exclude": ["a"]}, TypeError, "no option 'exclude', only .*`excluded`.* Did you mean 'excluded'"),
        ({"max_size": 2}, TypeError, "no option 'max_size'"),
        ({"over": "world"}, ValueError, "`over` must be "),
    ],
)
def test_what_only_rows_of_the_data_have_is_refused_over_the_model(explained, options, kind, message):
    X, model, explainer = explained
    with pytest.raises(kind, match=message):
        explainer.explain(X[:1], **{"over": "model", "model": model, **options})


def test_numbers_stay_in_their_interval(explained):
    X, model, explainer = explained
    trees = replace(model, decides_by="number", classes=None, value=model.value[:, 1:], start=np.zeros(1))
    reason = explainer.certain_reasons(X[:1], trees, table=X, interval=lambda p: (p - 0.4, p + 0.4))[0]
    assert reason.interval == pytest.approx((reason.outcome - 0.4, reason.outcome + 0.4))
    inside = np.all([condition.covers(X[condition.column].to_numpy()) for condition in reason.conditions], axis=0)
    predicted = trees.decide(X.to_numpy()[inside])
    assert reason.interval[0] <= predicted.min() <= predicted.max() <= reason.interval[1]
    assert not reason.interval[0] <= reason.nearest.decided <= reason.interval[1]
    with pytest.raises(ValueError, match="needs an `interval`"):
        explainer.certain_reasons(X[:1], trees, table=X)
    with pytest.raises(ValueError, match="is not in the `interval`"):
        explainer.certain_reasons(X[:1], trees, table=X, interval=(5, 6))


def test_excluded_variables_are_in_no_reason(explained):
    X, model, explainer = explained
    reason = explainer.certain_reasons(X[:1], model, excluded=["a"], nearest=False)[0]
    assert reason.variables is None
    assert "No certain reason without the excluded variables" in reason.sentence
    with pytest.raises(ValueError, match="In `excluded`: unknown variable 'e'"):
        explainer.certain_reasons(X[:1], model, excluded=["e"])


def test_nothing_is_claimed_of_a_row_whose_time_is_over(explained):
    """It was said that the other variables do not fix the decision, though that had not been searched."""
    X, model, explainer = explained
    late = {"max_seconds": 1e-9, "nearest": False}
    open_reason = explainer.certain_reasons(X[:1], model, excluded=["d"], **late)[0]
    assert (open_reason.variables, open_reason.is_open) == (None, True)
    # All variables fix it without any search.
    reason = explainer.certain_reasons(X[:1], model, **late)[0]
    assert (reason.variables, reason.is_minimal, reason.is_open) == (("a", "b", "c", "d"), False, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"excluded": "a"}, "`excluded` must be a list of texts, got 'a'"),
        ({"constraints": "a <= b"}, "`constraints` must be a list of texts, got 'a <= b'"),
        ({"domain": ["a"]}, "`domain` must be a dict of columns"),
        ({"max_node": 3}, "Certain reasons have no option 'max_node', only .* Did you mean 'max_nodes'"),
        ({"interval": (0, 1)}, "`interval` is for numbers; .* decides classes"),
        ({"smallest": "no"}, "`smallest` must be one of"),
    ],
)
def test_an_option_of_another_kind_is_refused(explained, options, message):
    X, model, explainer = explained
    with pytest.raises((TypeError, ValueError), match=message):
        explainer.certain_reasons(X[:1], model, **options)
    with pytest.raises(TypeError, match=r"Proofs have no option 'nodes', only `domain`"):
        explainer.prove([], model, nodes=3)


def test_a_row_outside_of_a_stated_domain_is_refused(explained):
    X, model, explainer = explained
    row = X[:1].assign(a=50.0)
    assert explainer.certain_reasons(row, model, nearest=False)[0].is_minimal
    with pytest.raises(ValueError, match=r"'a' is outside of the domain \(row 0\): it is \[50\]"):
        explainer.certain_reasons(row, model, domain={"a": (0, 9)})
    # In a column of whole numbers, infinity raised an OverflowError.
    with pytest.raises(ValueError, match=r"'a' is outside of the domain \(row 0\): it is \[inf\]"):
        explainer.certain_reasons(row.assign(a=np.inf), model, domain={"a": (0, 9)})


def test_exceptions_at_ends_of_float32_are_within_the_rule_as_printed():
    """The forest rounds to float32: an end of the rule may be a number that it takes for the next one."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(5, 1, 300), "b": random.normal(0, 1, 300)})
    y = (X.a > X.a.median()).to_numpy() ^ (X.b > 1)
    forest = RandomForestClassifier(3, max_depth=4, random_state=0).fit(X, y)
    at = np.concatenate([tree.tree_.threshold[tree.tree_.feature == 0] for tree in forest.estimators_])
    single = at.astype(np.float32)
    ends = [at, single.astype(float), *(np.nextafter(single, np.float32(end)).astype(float) for end in (-9e9, 9e9))]
    ends += [(ends[1] + ends[2]) / 2, (ends[1] + ends[3]) / 2, np.nextafter(at, 9.0), np.nextafter(at, 0.0)]
    verdicts = []
    for end in np.unique(np.concatenate(ends)):
        for closed in (False, True):
            near = float(end + random.choice([1e-9, 1e-7, 1e-6]))
            conditions = [Condition("a", float(end), near, closed, closed), Condition("b", -1.0, 0.5)]
            rule = make_rule(conditions, True).check_model(forest, X)
            verdicts.append(rule.proof.verdict)
            points = pd.DataFrame({"a": np.linspace(end, near, 41)}).merge(pd.DataFrame({"b": X.b}), how="cross")
            points = points[rule.covers(points)]
            if rule.proof.verdict == "proven":
                assert not len(points) or forest.predict(points).all()
            else:
                case = pd.DataFrame([rule.proof.counterexample])
                assert rule.covers(case).all()
                assert not forest.predict(case[["a", "b"]])[0]
                shown = rule.proof.sentence.split(" at ")[1].rstrip(".").split(" and ")
                case = pd.DataFrame([{name: float(value) for name, value in (text.split(" = ") for text in shown)}])
                assert rule.covers(case).all()
                assert not forest.predict(case[["a", "b"]])[0]
    assert {*verdicts} == {"proven", "refuted"}


def test_an_exception_with_many_columns_shows_those_of_the_rule_first():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 12))
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, X[:, 9] + X[:, 11] > 0)
    model = forest_ensemble(forest, [f"x{i}" for i in range(12)])
    proof = make_rule([Condition("x9", 0.0)], True).check_model(model, X).proof
    assert next(iter(proof.counterexample)) == "x9"
    assert len(proof.counterexample) == 12
    assert proof.sentence.count(" = ") == 8
    assert proof.sentence.endswith(" and 4 further values.")


def test_a_value_of_an_exception_has_few_digits():
    table = pd.DataFrame({"age": [20.25, 25, 29.5], "job": ["cook", "cook", "cook"]})
    proof = make_rule([], "no").check_model(stump_model(), table, domain={"age": (20, 31)}).proof
    assert proof.counterexample == {"age": 30.01, "job": "cook"}


def test_another_model_of_numbers_is_refused():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(200, 2)), columns=["a", "b"])
    one, other = (RandomForestRegressor(5, random_state=s, max_depth=3).fit(X, X.a + X.b) for s in (0, 1))
    explainer = SufficientExplainer.for_model(one, X, random_state=0)
    assert explainer.prove(explainer.explain(X[:1]))
    with pytest.raises(ValueError, match="pass the model that it explains"):
        explainer.prove(explainer.explain(X[:1]), other)


@pytest.mark.parametrize("then", [True, False])
def test_a_box_that_no_point_of_a_constraint_meets_is_refused(then):
    """Such a rule was proven, or open, since it says nothing of any point."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"low": random.integers(0, 50, 200)}).assign(high=lambda X: X["low"] + random.integers(1, 30, 200))
    model = RandomForestClassifier(3, random_state=0).fit(X, X["high"] > 40)
    outcomes = pd.Series(model.predict(X), name="high")
    own = rule("low >= 45 and high <= 20", X, outcomes, then=then)
    with pytest.raises(ValueError, match=r"high <= 20\) meets the constraint low <= high\."):
        own.check_model(model, X, constraints=["low <= high"])
    assert own.check_model(model, X).proof.verdict in ("proven", "refuted")
    kept = rule("low >= 20 and high <= 20", X, outcomes, then=False)
    assert kept.check_model(model, X, constraints=["low <= high"]).proof.verdict == "proven"
