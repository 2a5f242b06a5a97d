import numpy as np
from benchmarks.what_if import best_cdps, boosted
from loans import loan_explainer, make_loans


def test_the_best_cdps_are_those_of_the_complements():
    X, _ = make_loans(12, seed=1)
    explainer = loan_explainer()
    one, two = best_cdps(explainer, X, "good")
    names = explainer.variable_names_
    alone = [explainer.sdp(X, [n for n in names if n != name], ["good"] * 12) for name in names]
    assert one.startswith(f"{np.median(np.max(alone, axis=0)):.2f} (")
    assert float(two.split()[0]) >= 0


def test_the_boosted_model_takes_text():
    X, y = make_loans(60)
    assert set(boosted(X, y).predict(X)) <= {"good", "bad"}
