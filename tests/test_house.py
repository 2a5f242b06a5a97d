"""The house: sizes of files and functions, a docstring for every room, and a test file for every module.

Which room may import which is checked by import-linter (``make lint``).
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import suffice

SOURCE = Path(suffice.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py"))
MAX_LINES, MAX_CODE, MAX_PARAMETERS = 600, 60, 8
# Their parameters are their interface.
WIDE = {"explainer.py": {"__init__"}, "spark.py": {"explain"}, "dask.py": {"explain"}}


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def functions_of(path):
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def count_code(path, function):
    """Count the lines of a function that hold code: no blank lines, no comments, no docstring, no signature."""
    lines = path.read_text().splitlines()
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    if not body:
        return 0
    text = "\n".join(lines[body[0].lineno - 1 : function.end_lineno])
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


def is_command(path, function):
    """Return whether typer calls the function: its parameters are the arguments and options of a command."""
    return path.parent.name == "commands" and "Annotated" in ast.dump(function.args)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_and_functions_are_small(path):
    assert len(path.read_text().splitlines()) <= MAX_LINES
    for function in functions_of(path):
        assert count_code(path, function) <= MAX_CODE, function.name
        if is_command(path, function) or function.name in WIDE.get(name_of(path), ()):
            continue
        parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        assert len([name for name in parameters if name not in ("self", "cls")]) <= MAX_PARAMETERS, function.name


@pytest.mark.parametrize("path", [path for path in MODULES if path.name == "__init__.py"], ids=name_of)
def test_every_room_says_what_it_is_for(path):
    assert len(ast.get_docstring(ast.parse(path.read_text())) or "") > 30


@pytest.mark.parametrize("path", [path for path in MODULES if path.name != "__init__.py"], ids=name_of)
def test_every_module_has_its_test_file(path):
    folder = TESTS / path.relative_to(SOURCE).parent
    assert list(folder.glob(f"test_{path.stem}*.py")) or list(folder.glob(f"test_*_{path.stem}.py"))


def test_lines_of_code_are_counted(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('def f(a):\n    """One."""\n    # two\n\n    b = a\n    return b\n')
    assert [count_code(path, function) for function in functions_of(path)] == [2]
