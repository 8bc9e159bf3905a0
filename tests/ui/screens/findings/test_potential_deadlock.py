"""A potential deadlock, with a column for each client."""

from functools import cache

from model.waits.notation import learned
from msgspec.structs import replace
from ui.example_queues import looked, ring_of

from zktop.model.waits.lock_order_story import Inversion, inversions
from zktop.ui.screens.common.line_writer import LineWriter
from zktop.ui.screens.findings.finding_detail import write_finding
from zktop.ui.screens.findings.potential_deadlock import MIN_COLUMN_CELLS, write_lock_order
from zktop.ui.styled_text import text_of, width_of

ORDERS, STOCK = "/orders", "/stock"


@cache
def inversion() -> Inversion:
    """Ann takes orders first, and bob takes stock first."""
    known = learned("orders x: ann@1 ; stock x: ann@2", "orders x: bob@8 ; stock x: bob@7")
    (made,) = inversions(known)
    return made


def text(pen: LineWriter) -> list[str]:
    """What was written, line by line."""
    return [text_of(line).rstrip() for line in pen.lines]


def test_turns_stand_beside_each_other() -> None:
    """Both get their first lock, then each asks for the lock of the other."""
    facts = inversion()
    pen = LineWriter(80)
    write_lock_order(pen, facts)
    turns = [line for line in text(pen) if line.split()[0] in ("got", "asks")]

    assert [line.split() for line in turns] == [
        ["got", "stock"],
        ["got", "orders"],
        ["asks", "orders"],
        ["asks", "stock"],
    ]
    assert [line.index(line.split()[0]) > 30 for line in turns] == [False, True, False, True]
    assert [link.subject.path for link in pen.links if link] == [STOCK, ORDERS, ORDERS, STOCK]


def test_modes_are_words() -> None:
    """As in all other sentences and drawings."""
    known = learned("orders rw: ann.W@1 ; stock x: ann@2", "orders rw: bob.R@8 ; stock x: bob@7")
    pen = LineWriter(80)
    write_lock_order(pen, inversions(known)[0])
    said = " ".join(" ".join(text(pen)).split())

    assert "orders (write)" in said
    assert "orders (read)" in said


def test_a_long_name_is_cut_before_its_mode() -> None:
    """Without their modes the locks of readers and writers would not look inverted."""
    known = learned(
        "orders-eu-west rw: ann.W@1 ; stock x: ann@2",
        "orders-eu-west rw: bob.R@8 ; stock x: bob@7",
    )
    pen = LineWriter(2 * MIN_COLUMN_CELLS + 3)
    write_lock_order(pen, inversions(known)[0])
    said = text(pen)

    assert any(line.endswith("(write)") for line in said)
    assert any(line.endswith("(read)") for line in said)


def test_where_it_is_narrow_they_stand_below_each_other() -> None:
    """Each line begins with the letter of its client."""
    facts = inversion()
    pen = LineWriter(40)
    write_lock_order(pen, facts)

    assert "  A got  stock" in text(pen)
    assert "  B asks stock" in text(pen)
    assert max(map(width_of, pen.lines[1:])) <= 40


def test_many_actors_stand_below_each_other() -> None:
    """Five columns could not be read."""
    facts = inversion()
    pen = LineWriter(200)
    write_lock_order(pen, replace(facts, actors=tuple("abcde")))

    assert "  E  e" in text(pen)


def test_says_how_close_it_came() -> None:
    """By the time between the two clients."""
    facts = inversion()
    heads = []
    for missed in (None, 0, 2_300):
        pen = LineWriter(80)
        write_lock_order(pen, replace(facts, missed_by_ms=missed))
        heads.append(text(pen)[0])

    assert "not so far" in heads[0]
    assert "happened already" in heads[1]
    assert "missed each other by 2s" in heads[2]


def test_says_when_it_happened() -> None:
    """However close they came otherwise."""
    pen = LineWriter(80)
    write_lock_order(pen, replace(inversion(), missed_by_ms=0, deadlocked_at=1_767_225_600_123))

    assert "it happened at 00:00:00Z" in text(pen)[0]


def test_the_finding_has_the_story() -> None:
    """On the screen of findings, below its sentence."""
    report = looked(ring_of("ann", "bob"))[-1].report
    facts = inversion()
    finding = replace(report.findings[0], id=facts.id, rule="D9")
    pen = LineWriter(80)
    write_finding(pen, finding, replace(report, inversions=(facts,)))

    assert any("IF THEY RUN AT THE SAME TIME" in line for line in text(pen))
    assert any("A  bob" in line and "B  ann" in line for line in text(pen))
