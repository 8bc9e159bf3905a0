"""Checks that keep the code easy to navigate: small folders, and names that mean one thing."""

import ast
import re
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "zktop"
MODULES = [file for file in sorted(PACKAGE.rglob("*.py")) if file.name != "__init__.py"]
MOST_MODULES = 20
MOST_LINES = 450
MOST_FUNCTION_LINES = 40
SOURCES = [(file, file.read_text(encoding="utf-8")) for file in MODULES]
LONG_FUNCTIONS = {"ui/screens/locks/table.py columns"}  # a table of columns, so it says
EXCEPTION = re.compile(r"# (?:noqa: [A-Z0-9, ]+|type: ignore\[[a-z,-]+\])(.*)")


def test_no_folder_has_more_modules_than_a_reader_can_scan() -> None:
    """A larger one is divided by what its modules are about."""
    counts = Counter(str(file.parent.relative_to(PACKAGE)) for file in MODULES)

    assert {folder: n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_no_public_class_name_is_used_twice() -> None:
    """A name that is searched for leads to one place."""
    names = Counter(
        one.name
        for _, text in SOURCES
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_")
    )

    assert [name for name, n in names.items() if n > 1] == []


def test_no_module_is_too_long() -> None:
    """A longer one has more than one idea."""
    lines = {str(file.relative_to(PACKAGE)): len(text.splitlines()) for file, text in SOURCES}

    assert {file: n for file, n in lines.items() if n > MOST_LINES} == {}


def test_each_function_fits_on_a_screen() -> None:
    """But for tables."""
    long = {
        f"{file.relative_to(PACKAGE)} {node.name}"
        for file, text in SOURCES
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MOST_FUNCTION_LINES
    }

    assert long == LONG_FUNCTIONS


def test_each_exception_from_a_check_has_its_reason() -> None:
    """Next to it, or "likewise" below the first of several."""
    bare = [
        f"{file.relative_to(PACKAGE)}: {line.strip()}"
        for file, text in SOURCES
        for line in text.splitlines()
        if (found := EXCEPTION.search(line)) and not found[1].strip(" #-")
    ]

    assert bare == []


def test_every_folder_of_tests_is_in_the_makefile() -> None:
    """A suite that nobody runs proves nothing."""
    tests = PACKAGE.parent / "tests"
    makefile = (PACKAGE.parent / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"tests/[a-z_./]+", makefile))
    files = {file.relative_to(tests).parts[0] for file in tests.rglob("test_*.py")}

    assert {name for name in files if f"tests/{name}" not in named} == set()
