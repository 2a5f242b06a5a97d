"""The data of the demo."""

from __future__ import annotations

from suffice._io.explainer_file import N_HELD_OUT, demo_data


def test_one_table_has_classes_and_one_has_numbers():
    first, second = demo_data()
    assert set(first.y_fit) == {"benign", "malignant"}
    assert second.y_fit.dtype.is_float()
    for data in (first, second):
        assert len(data.X_fit) == len(data.y_fit)
        assert len(data.X_new) == len(data.y_new) == N_HELD_OUT
        assert data.X_fit.columns == data.X_new.columns
        assert max(data.shown) < N_HELD_OUT
