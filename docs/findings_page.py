"""Write the list of findings, docs/findings.md, from the catalogue of rules.

`python docs/findings_page.py [FILE]`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from zktop.model.findings.catalogue import RULES, AnyRule

PAGE = Path(__file__).parent / "findings.md"
ABOUT = """\
# Findings

`zktop check` prints these as sentences, and screen 3 shows them with their evidence. A script
names one by its id or its name: `zktop check --fail-on D1,no-watch`. The same words are in JSON
(`rule`, `name`), in the labels of `zktop_findings` and `zktop_rule_blind`, in webhooks, and in
the names of the files that `zktop record --dir` keeps.

**Severity** is the highest that the finding usually has. `check` exits with 1 if there is a
critical one; with `--fail-on`, if there is one that it names.

**Needs** names the tables of the servers without which zktop may miss the finding: `watches`
(which session watches which znode), `connections` (which clients are connected, and when each
was last heard from), `expiry` (when each session expires). If one is missing, `check` lists the
ids under `no data:`. A recording that `zktop import` made has none of these tables; where the
list says so, its transaction logs show the same.

A *member* is a znode that holds or waits, a *contender* the client behind it; an *actor* is a
session, unless the config merges or splits sessions.
"""
FAMILIES = {
    "D": "Deadlocks",
    "S": "Safety: the lock may have two owners",
    "B": "Blocked: what stands in the way of a lock",
    "L": "Lost and wasted wake-ups",
    "P": "Performance, sessions and servers",
    "R": "The lock's own node, and the roots",
}


def page() -> str:
    """Return the list in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield ABOUT.rstrip()
    for letter, title in FAMILIES.items():
        yield from ("", f"## {title}", "", "| id | name | severity | what it means | needs |")
        yield "|---|---|---|---|---|"
        rules = [rule for rule in RULES if rule.id.startswith(letter)]
        yield from map(_row, sorted(rules, key=lambda rule: int(rule.id[1:])))


def _row(rule: AnyRule) -> str:
    needs = ", ".join(rule.tables)
    if rule.is_in_logs:
        needs += " (or an import)"
    names = f"`{rule.name}`"
    if rule.former_name:
        names += f" (formerly `{rule.former_name}`)"
    return f"| {rule.id} | {names} | {rule.severity} | {rule.means} | {needs} |"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.write_text(page(), encoding="utf-8")
