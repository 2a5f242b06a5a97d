"""The house: how much code stands where, who imports whom, and how short the way of one row is.

Which room may import which is checked by import-linter (``make lint``).
"""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path

import numpy as np
import pytest
from missing_programs import NO_CHROMIUM, lines_about

import suffice

SOURCE = Path(suffice.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
PRIVATE = [path for path in MODULES if path.relative_to(SOURCE).parts[0].startswith(("_", "app"))]
MAX_FILE, MAX_FUNCTION, MAX_PARAMETERS = 400, 60, 8  # lines of code
# One method for each question, with all its parameters.
MAX_FILE_OF = {"explainer.py": 480, "rule_lists/estimators.py": 430}
MAX_ENTRIES, MAX_LAYERS, MAX_PRIVATE_DOCSTRINGS = 20, 14, 0.1
# The methods that pass their object outward, and nothing else, import a room above their own.
OUTWARD = {"report", "plot", "save", "load", "read", "app", "to_frame", "_repr_html_"}
ABOVE = ("suffice._show", "suffice._io", "suffice.plots", "suffice.app")
# Their parameters are their interface.
WIDE = {
    "_forest/trees.py": ("from_training",),  # a forest, its table, and how its rows are counted
    "explainer.py": {"__init__", "what_if", "what_if_rules", "reasons", "explain", "stability"},
}


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def module_of(path):
    return ".".join(("suffice", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


@functools.cache
def parse(path):
    return ast.parse(path.read_text())


def functions_of(path):
    return [n for n in ast.walk(parse(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def docstring_of(node):
    """The lines of a docstring, as a set of line numbers."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return set(range(first.lineno, first.end_lineno + 1))
    return set()


@functools.cache
def docstrings_in(path):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return set().union(*(docstring_of(node) for node in ast.walk(parse(path)) if isinstance(node, kinds)))


@functools.cache
def lines_of(path):
    return path.read_text().splitlines()


def count_code(path, node=None):
    """Count the lines that hold code: no blank lines, no comments, no docstrings and, of a function, no signature."""
    first, last = (1, len(lines_of(path))) if node is None else (node.body[0].lineno, node.end_lineno)
    documented = docstrings_in(path)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in documented
        for number, line in enumerate(lines_of(path)[first - 1 : last], start=first)
    )


def test_lines_of_code_are_counted(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('def f(a):\n    """One."""\n    # two\n\n    b = a\n    return b\n')
    assert [count_code(path, function) for function in functions_of(path)] == [2]
    assert count_code(path) == 3


def is_command(path, function):
    """Return whether typer calls the function: its parameters are the arguments and options of a command."""
    return path.parent.name == "commands" and "Annotated" in ast.dump(function.args)


def test_files_and_functions_are_small():
    limits = {name_of(path): MAX_FILE_OF.get(name_of(path), MAX_FILE) for path in MODULES}
    assert not {name_of(path): n for path in MODULES if (n := count_code(path)) > limits[name_of(path)]}
    functions = [(path, function) for path in MODULES for function in functions_of(path)]
    assert not {(name_of(p), f.name): n for p, f in functions if (n := count_code(p, f)) > MAX_FUNCTION}
    wide = []
    for path, function in functions:
        parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        n_parameters = len([name for name in parameters if name not in ("self", "cls")])
        if is_command(path, function) or function.name in WIDE.get(name_of(path), ()):
            continue
        if n_parameters > MAX_PARAMETERS:
            wide.append((name_of(path), function.name, n_parameters))
    assert not wide


def test_every_room_says_what_it_is_for():
    rooms = [path for path in MODULES if path.name == "__init__.py"]
    assert not [name_of(path) for path in rooms if len(ast.get_docstring(parse(path)) or "") <= 30]


def test_private_code_is_documented_by_one_line():
    n_lines = sum(len(path.read_text().splitlines()) for path in PRIVATE)
    assert sum(len(docstrings_in(path)) for path in PRIVATE) <= MAX_PRIVATE_DOCSTRINGS * n_lines


def imports_in(node):
    """The modules, and the names in modules, that a piece of code imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            yield part.module or ""
            yield from (f"{part.module}.{alias.name}" for alias in part.names)


def test_every_module_is_imported_by_the_tests_of_its_room():
    """The tests of a room are in the folder of its name; those of a module at the top are beside this file."""

    @functools.cache
    def tested_in(room):
        files = list((TESTS / room).rglob("test_*.py") if room else TESTS.glob("test_*.py"))
        return [file.stem for file in files], {name for file in files for name in imports_in(parse(file))}

    untested = []
    for path in MODULES:
        stems, names = tested_in(path.relative_to(SOURCE).parts[0] if path.parent != SOURCE else "")
        is_tested = module_of(path) in names or any(path.stem in stem for stem in stems)
        if path.name != "__init__.py" and not is_tested:
            untested.append(name_of(path))
    assert not untested


def test_few_entries_at_the_top():
    entries = [p for p in SOURCE.iterdir() if (p.is_dir() or p.suffix == ".py") and not p.name.startswith("__")]
    assert len(entries) <= MAX_ENTRIES, sorted(p.name for p in entries)


def test_the_chain_of_imports_is_short():
    """Imports at the top of modules; those in functions and for type checking do not count."""
    names = {module_of(path) for path in MODULES}
    imports = {}
    for path in MODULES:
        imported = set()
        for node in parse(path).body:
            if isinstance(node, ast.ImportFrom):
                wholes = {f"{node.module}.{alias.name}" for alias in node.names} & names
                imported |= wholes or {node.module} & names
        imports[module_of(path)] = imported - {module_of(path)}

    @functools.cache
    def chain(name):
        return [name, *max((chain(other) for other in imports[name]), key=len, default=[])]

    longest = max((chain(name) for name in names), key=len)
    assert len(longest) <= MAX_LAYERS, longest


def test_no_class_has_two_ancestors_of_our_own():
    bases = {
        node.name: [getattr(base, "value", base) for base in node.bases]
        for path in MODULES
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ClassDef)
    }

    def height(name):
        known = [base.id for base in bases[name] if isinstance(base, ast.Name) and base.id in bases]
        return 1 + max(map(height, known), default=0)

    assert not [name for name in bases if height(name) > 2]


def test_only_named_methods_pass_their_object_outward():
    """import-linter knows modules only: an import at the top of the module would be ignored as well."""
    below = [p for p in MODULES if p.relative_to(SOURCE).parts[0].split(".")[0] not in ("_show", "_io", "plots", "app")]
    below = [p for p in below if p.relative_to(SOURCE).parts[0] not in ("_cli", "spark.py", "dask.py", "records.py")]
    outward = []
    for path in below:
        inside = [f for f in functions_of(path) if f.name in OUTWARD]
        allowed = sum(name.startswith(ABOVE) for f in inside for name in imports_in(f))
        if sum(name.startswith(ABOVE) for name in imports_in(parse(path))) > allowed:
            outward.append(name_of(path))
    assert not outward


def count_switches(call):
    """Count how often a call goes from one module of the package to another."""
    switches = []

    def module_of_caller(frame):
        while frame is not None:
            name = frame.f_globals.get("__name__", "")
            if name.startswith("suffice"):
                return name
            frame = frame.f_back
        return None

    def profile(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("suffice") and module_of_caller(frame.f_back) not in (name, None):
            switches.append((module_of_caller(frame.f_back), name, frame.f_code.co_name))

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
    row, target = np.full((1, 6), 2.0), False if is_class else {"below": 0.0}
    assert explainer.explain(row)[0].rule is not None  # and what is kept for the next call is there
    assert explainer.what_if(row, target)[0].best is not None
    calls = {
        "explain": (55, lambda: explainer.explain(row)),
        "its text": (150, lambda: str(explainer.explain(row)[0])),
        "what_if": (310, lambda: str(explainer.what_if(row, target)[0])),
    }
    n_switches = {name: len(count_switches(call)) for name, (_, call) in calls.items()}
    assert not {name: n for name, n in n_switches.items() if n > calls[name][0]}


def test_a_run_ends_with_the_programs_that_were_missing():
    reasons = [f"('tests/conftest.py', 130, 'Skipped: {NO_CHROMIUM}')"] * 2 + ["Skipped: another reason"]
    assert lines_about(reasons) == [f"Skipped tests: 2. {NO_CHROMIUM}"]
    assert lines_about(["Skipped: another reason"]) == []
