"""What keeps the code easy to find one's way in: small folders, and names that mean one thing."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "zktop"
MODULES = [file for file in sorted(PACKAGE.rglob("*.py")) if file.name != "__init__.py"]
MOST_MODULES = 20


def test_no_folder_has_more_modules_than_a_reader_can_scan() -> None:
    """A larger one is divided by what its modules are about."""
    counts = Counter(str(file.parent.relative_to(PACKAGE)) for file in MODULES)

    assert {folder: n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_no_public_class_name_is_used_twice() -> None:
    """A name that is searched for leads to one place."""
    names = Counter(
        one.name
        for file in MODULES
        for one in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_")
    )

    assert [name for name, n in names.items() if n > 1] == []
