"""The house: sizes of files and functions, a docstring for every room, and a test file for every module.

Which room may import which is checked by import-linter (``make lint``).
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import numpy as np
import pytest
from missing_programs import NO_CHROMIUM, lines_about

import suffice

SOURCE = Path(suffice.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py"))
MAX_LINES, MAX_CODE, MAX_PARAMETERS = 600, 60, 8
MAX_SWITCHES = 33
# The methods that pass their object outward, and nothing else, import a room above their own.
OUTWARD = {"report", "plot", "save", "load", "read", "app", "to_frame", "_repr_html_"}
# Their parameters are their interface.
WIDE = {
    "explainer.py": {"__init__"},
    "what_if.py": {"what_if", "what_if_rules"},
    "reasoning.py": {"reasons"},
    "reason_stability.py": {"reason_stability"},
}


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


def outward_imports():
    """The imports that import-linter ignores, as pairs of modules."""
    import tomllib  # since Python 3.11

    with (TESTS.parent / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    lines = {line for contract in contracts for line in contract.get("ignore_imports", ())}
    return sorted(tuple(module.strip() for module in line.split("->")) for line in lines)


def imports_in(node):
    """The modules, and the names in modules, that a piece of code imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            yield part.module
            yield from (f"{part.module}.{alias.name}" for alias in part.names)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
@pytest.mark.parametrize(("importer", "imported"), outward_imports() if sys.version_info >= (3, 11) else [])
def test_only_named_methods_pass_their_object_outward(importer, imported):
    """import-linter knows modules only: an import at the top of the module would be ignored as well."""
    path = SOURCE.parent / f"{importer.replace('.', '/')}.py"
    inside = [f.name for f in functions_of(path) if imported in imports_in(f)]
    everywhere = list(imports_in(ast.parse(path.read_text()))).count(imported)
    assert inside
    assert set(inside) <= OUTWARD
    assert everywhere == sum(list(imports_in(f)).count(imported) for f in functions_of(path) if f.name in OUTWARD)


def count_switches(call):
    """Count how often a call goes from one module of the package to another."""
    switches = []

    def module_of(frame):
        while frame is not None:
            name = frame.f_globals.get("__name__", "")
            if name.startswith("suffice"):
                return name
            frame = frame.f_back
        return None

    def profile(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("suffice") and module_of(frame.f_back) not in (name, None):
            switches.append((module_of(frame.f_back), name, frame.f_code.co_name))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return switches


@pytest.mark.parametrize("is_class", [True, False])
def test_one_row_takes_a_short_way_through_the_house(is_class):
    X = np.random.default_rng(0).normal(size=(300, 6))
    y = X[:, 0] + X[:, 1]
    explainer = suffice.SufficientExplainer(random_state=0, n_jobs=1, pi=0.3, min_size=1)
    explainer.fit(X, y > 0 if is_class else y)
    row = np.full((1, 6), 2.0)
    assert explainer.explain(row)[0].rule is not None  # and what is kept for the next call is there
    switches = count_switches(lambda: explainer.explain(row))
    assert len(switches) <= MAX_SWITCHES, switches


def test_a_run_ends_with_the_programs_that_were_missing():
    reasons = [f"('tests/conftest.py', 130, 'Skipped: {NO_CHROMIUM}')"] * 2 + ["Skipped: another reason"]
    assert lines_about(reasons) == [f"Skipped tests: 2. {NO_CHROMIUM}"]
    assert lines_about(["Skipped: another reason"]) == []
