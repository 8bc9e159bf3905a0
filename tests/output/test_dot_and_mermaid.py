"""The wait graph in DOT and Mermaid."""

import re
import shutil
import subprocess

import msgspec
import pytest
from model.make_facts import session
from output.stories import shot

from zktop.model.session_ids import session_text
from zktop.output.dot_and_mermaid import dot, mermaid

AB_BA = shot("X x: A B ; Y x: B A C ; Z x: D")
A, B, C = (session_text(session(name)) for name in "ABC")
ODD = ['a"b', "a\\", "a]b", "{a}", "ende;", "a|b", "<b>", "käse", "#1", "end", "x-->y", "a\\n"]


def test_dot_shows_the_ring_and_leaves_quiet_locks_out() -> None:
    """The ring is red, waiting is dashed, and locks without waiters are left out."""
    assert list(dot(AB_BA)) == [
        "digraph locks {",
        "  rankdir=LR; node [fontname=monospace];",
        '  "/locks/x" [shape=box];',
        '  "/locks/y" [shape=box];',
        f'  "{C}" [label="C"];',
        f'  "{A}" [label="A"];',
        f'  "{B}" [label="B"];',
        f'  "/locks/x" -> "{A}" [label="holds exclusive", color=red, penwidth=2];',
        f'  "{B}" -> "/locks/x" [label="waits exclusive", style=dashed, color=red, penwidth=2];',
        f'  "/locks/y" -> "{B}" [label="holds exclusive", color=red, penwidth=2];',
        f'  "{A}" -> "/locks/y" [label="waits exclusive", style=dashed, color=red, penwidth=2];',
        f'  "{C}" -> "/locks/y" [label="waits exclusive", style=dashed];',
        "}",
    ]


def test_the_ring_is_red_whatever_an_actor_is() -> None:
    """With `actors.identity: owner` an actor is a name, and the drawing still shows sessions."""
    (ring,) = AB_BA.deadlocks
    named = [msgspec.structs.replace(step, actor=step.name) for step in ring.steps]
    by_owner = msgspec.structs.replace(
        AB_BA, deadlocks=[msgspec.structs.replace(ring, steps=named)]
    )

    assert list(dot(by_owner)) == list(dot(AB_BA))
    assert list(mermaid(by_owner)) == list(mermaid(AB_BA))


def test_mermaid_shows_the_same() -> None:
    """Each node has an id, and the ring is in a class of its own."""
    assert list(mermaid(AB_BA)) == [
        "flowchart LR",
        '  n0["/locks/x"]',
        '  n1("A")',
        '  n0 -->|"holds exclusive"| n1',
        '  n2("B")',
        '  n2 -.->|"waits exclusive"| n0',
        '  n3["/locks/y"]',
        '  n3 -->|"holds exclusive"| n2',
        '  n1 -.->|"waits exclusive"| n3',
        '  n4("C")',
        '  n4 -.->|"waits exclusive"| n3',
        "  classDef dead stroke:#d00,stroke-width:3px",
        "  class n1,n2 dead",
    ]


@pytest.mark.parametrize("name", ODD)
def test_no_name_can_end_a_quoted_label(name: str) -> None:
    """Quotes, backslashes and brackets in a name cannot break the drawing."""
    taken = shot(f"X x: {name} B")
    quoted = r'"(?:[^"\\]|\\.)*"'

    assert all(re.sub(quoted, "", line).count('"') == 0 for line in dot(taken))
    assert all(line.count('"') % 2 == 0 for line in mermaid(taken))
    labels = [label for line in mermaid(taken) for label in re.findall(r'"(.*?)"', line)]
    assert all(re.fullmatch(r"(?:[\w /.:-]|#\d+;)*", label) for label in labels)


def test_two_sessions_with_one_label_are_two_nodes() -> None:
    """If they were one node, a queue of equal workers would look like a deadlock."""
    taken = shot("X x: A B")
    (lock,) = taken.locks
    twins = [msgspec.structs.replace(one, name="worker") for one in (*lock.holders, *lock.waiters)]
    twin = msgspec.structs.replace(lock, holders=twins[:1], waiters=twins[1:])
    drawn = msgspec.structs.replace(taken, locks=[twin])

    assert [line for line in mermaid(drawn) if "worker" in line] == [
        '  n1("worker")',
        '  n2("worker")',
    ]
    assert sum('[label="worker"]' in line for line in dot(drawn)) == 2


def test_an_empty_snapshot_is_an_empty_drawing() -> None:
    """Without waits, a valid graph with no edges is printed."""
    quiet = shot("X x: A")

    assert list(dot(quiet))[-1] == "}"
    assert list(mermaid(quiet)) == ["flowchart LR"]


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz on this machine")
def test_graphviz_draws_it() -> None:
    """Graphviz accepts names with special characters."""
    for name in ODD:
        drawn = subprocess.run(
            ["dot", "-Tplain"],
            input="\n".join(dot(shot(f"X x: {name} B"))),
            capture_output=True,
            text=True,
            check=False,
        )

        assert (drawn.returncode, drawn.stderr) == (0, "")
