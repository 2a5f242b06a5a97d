"""How the command prints."""

from __future__ import annotations

import pytest

from suffice._cli.printing import in_options


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("`X` has 3 columns. With extra_columns='ignore' they", "The table has 3 columns. With --ignore-extra they"),
        ("Column 'a' of `X` holds", "Column 'a' of the table holds"),
        (
            "`y` must hold numbers; give task='classification'",
            "The target must hold numbers; give --task classification",
        ),
        ("`n_candidates` must", "--candidates must"),
    ],
)
def test_messages_speak_of_options(text, translated):
    assert in_options(text) == translated
