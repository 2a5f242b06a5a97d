from suffice import Condition
from suffice.proofs.domain import round_within
from suffice.proofs.values import CertainReason, CertainReasons, NearestOther


def make(**changes):
    fields = {"variables": ("age",), "conditions": (Condition("age", high=30.0),), "is_minimal": True}
    return CertainReason(**{"row": 0, "outcome": "no", "is_smallest": False, "least_size": 1, **fields, **changes})


def test_a_reason_says_how_much_of_it_is_proven():
    start = "Proven: the model decides no whenever age <= 30, whatever the other variables are"
    assert make(is_smallest=True).sentence == f"{start} (no smaller set is enough)."
    assert make().sentence == f"{start} (none can be left out; every such set has at least 1 variable)."
    assert make(is_minimal=False).sentence == f"{start} (not proven to be minimal)."
    assert make(interval=(1.5, 2.0)).sentence.startswith("Proven: the model predicts from 1.5 to 2 whenever age <= 30")
    assert make(variables=None).sentence.startswith(
        "No certain reason without the excluded variables: the model decides"
    )
    assert make(variables=None, is_open=True).sentence.startswith("Open: the model decides no; ")
    assert make(variables=()).sentence == "Proven: the model decides no for every row of the domain."


def test_the_nearest_other_decision_stands_beside_it():
    nearest = NearestOther({"age": (20, 31), "job": ("cook", None)}, "yes", 2, 1.25, False, 1)
    sentence = (
        "The nearest other decision: yes after changing age from 20 to 31 and job from cook to missing (distance 1.25, "
        "not proven to be the nearest)."
    )
    assert make(nearest=nearest).to_dict()["nearest"]["least_changed"] == 1
    assert sentence in str(CertainReasons((make(nearest=nearest),)))


def test_ends_are_rounded_inwards():
    assert round_within(0.3000000119, 0.31) == 0.31
    assert round_within(29.99, 20.0) == 20.0
    assert round_within(0.3, 0.3) == 0.3


def test_of_many_conditions_the_first_are_shown():
    many = tuple(Condition(f"x{i}", high=30.0) for i in range(10))
    assert "x7 <= 30 and 2 further conditions, whatever" in make(conditions=many).sentence
    assert "x8" not in make(conditions=many).sentence
    assert len(make(conditions=many).to_dict()["conditions"]) == 10
