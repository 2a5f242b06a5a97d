import pytest

from suffice.app.messages import reword


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("`X` has 2 columns.", "The table has 2 columns."),
        ("A value of `X` and `y` is bad.", "A value of the table and the target is bad."),
        ("No. With unseen='missing' it counts as missing.", "No. Let it count as missing under Settings."),
        ("  two\n  lines ", "two lines"),
        ("With pi=0.7, age and income are enough.", "With π = 0.7, age and income are enough."),
        ("With pi=0.55, levels='same', age is enough.", "With π = 0.55, age is enough."),
    ],
)
def test_messages_of_the_library_are_reworded_for_the_page(message, words):
    assert reword(ValueError(message)) == words


def test_errors_without_a_message_have_words():
    assert reword(ValueError()) == "ValueError"
    assert reword(FileNotFoundError(2, "No such file or directory", "/secret/path")) == "No such file or directory."
