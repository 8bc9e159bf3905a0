"""The list of findings says what the catalogue says; `make man` writes it."""

import re
import subprocess
import sys
from pathlib import Path

from zktop.model.findings.catalogue import RULES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "findings.md"


def test_the_list_is_that_of_this_version(tmp_path: Path) -> None:
    """If this fails, run `make man`."""
    written = tmp_path / "findings.md"
    subprocess.run([sys.executable, ROOT / "docs" / "findings_page.py", written], check=True)

    assert written.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_every_rule_has_one_row() -> None:
    """Also one of a family with a new letter."""
    ids = re.findall(r"^\| ([A-Z]\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(ids) == sorted(rule.id for rule in RULES)


def test_the_man_page_lists_every_rule() -> None:
    """For a script's author on a machine without a clone."""
    roff = (ROOT / "docs" / "man" / "zktop.1").read_text(encoding="utf-8").replace("\\-", "-")
    section = roff.partition(".SH FINDINGS")[2].partition(".SH ")[0]

    assert [rule.id for rule in RULES if f"{rule.id}, {rule.name}" not in section] == []
