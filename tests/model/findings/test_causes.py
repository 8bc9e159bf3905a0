"""One alarm for one cause, and the order of the screen."""

import msgspec
import pytest
from model.builders import NOW, session
from model.findings.cases import (
    SECOND,
    connected,
    ctx,
    found,
    held,
    history,
    k,
    only,
    usual,
)

from zktop.model.findings.catalogue import RANK
from zktop.model.findings.causes import CAUSES, DELAYS, ROOTS, WaitsAhead, folded
from zktop.model.findings.finding import Finding
from zktop.model.text import Text

PATTERN = only("B1", ctx(k("import", 7, by="", age_ms=120 * SECOND), k("bob", 8)))


def one(rule: str, lock: str = "/x", node: str = "n", who: str = "", **more: object) -> Finding:
    """A finding of this rule about this."""
    fields = {
        "id": f"{rule}-{lock}-{node}",
        "rule": rule,
        "lock": Text(lock),
        "locks": (Text(lock),),
        "nodes": (Text(node),),
        "sessions": (session(who),) if who else (),
        **more,
    }
    return msgspec.structs.replace(PATTERN, **fields)


def causes(*findings: Finding, ahead: WaitsAhead | None = None) -> dict[str, str | None]:
    """Which rule each finding is folded under."""
    by_id = {finding.id: finding.rule for finding in findings}
    done = folded(findings, ahead or WaitsAhead())
    return {finding.rule: by_id[finding.cause] if finding.cause else None for finding in done}


def test_a_long_hold_is_folded_under_the_orphan_that_causes_it() -> None:
    """One alarm, which counts what is behind it."""
    done = folded([one("P6"), one("B1"), one("P7")])

    assert [(f.rule, f.folded, f.cause) for f in done] == [
        ("B1", 2, None),
        ("P6", 0, "B1-/x-n"),
        ("P7", 0, "B1-/x-n"),
    ]


@pytest.mark.parametrize(
    ("effect", "cause", "about"),
    [
        ("D6", "B4", {}),
        ("P1", "B4", {"who": "old"}),
        ("L2", "D7", {}),
        ("L10", "L1", {}),
        ("L4", "S1", {"node": "other"}),
        ("S2", "S6", {"node": "other"}),
        ("B8", "S3", {"who": "old", "lock": "/y"}),
        ("P4", "S3", {"who": "old", "lock": "/y"}),
    ],
)
def test_effects_are_folded_under_their_cause(
    effect: str, cause: str, about: dict[str, str]
) -> None:
    """By the node, the session or the lock that both are about."""
    assert causes(one(cause, who="old"), one(effect, **{"who": "old", **about})) == {
        cause: None,
        effect: cause,
    }


@pytest.mark.parametrize(
    ("effect", "cause", "about"),
    [
        ("P6", "B1", {"lock": "/y"}),
        ("P6", "L5", {}),
        ("L2", "D7", {"node": "other"}),
        ("B1", "B2", {}),
    ],
)
def test_unrelated_findings_stay_apart(effect: str, cause: str, about: dict[str, str]) -> None:
    """Another lock, another node, or no known relation."""
    assert causes(one(cause), one(effect, **about))[effect] is None


def test_effects_of_effects_are_folded_under_the_first_cause() -> None:
    """The old session explains that it is gone, which explains the long hold."""
    found_rules = causes(
        one("B4", node="new", who="old"), one("P1", node="m", who="old"), one("P6", who="old")
    )

    assert found_rules == {"B4": None, "P1": "B4", "P6": "B4"}


def test_a_delay_is_folded_under_what_its_holder_waits_for_far_away() -> None:
    """Alice holds /a and waits in /b for bob, who waits in /c, which is free."""
    waits = {session("alice"): ["/b"], session("bob"): ["/c"]}
    holds = {"/b": [session("bob")]}
    ahead = WaitsAhead(lambda s: map(Text, waits.get(s, ())), lambda lock: holds.get(lock, ()))
    far = one("P6", lock="/a", who="alice")

    assert causes(far, one("B1", lock="/c"), ahead=ahead)["P6"] == "B1"
    assert causes(far, one("B1", lock="/d"), ahead=ahead)["P6"] is None
    assert causes(far, one("B1", lock="/d"), one("L5", lock="/c"), ahead=ahead)["P6"] is None


def test_a_ring_of_waits_ends_the_search() -> None:
    """All wait for each other, and nothing explains it."""
    ahead = WaitsAhead(lambda _: [Text("/a"), Text("/b")], lambda _: [session("x"), session("y")])

    assert causes(one("P6", lock="/a", who="x"), ahead=ahead) == {"P6": None}


def test_a_deadlock_explains_delays_in_all_its_locks() -> None:
    """Its finding names them all."""
    ring = one("D1", lock="/x", locks=(Text("/x"), Text("/y")))

    assert causes(ring, one("P6", lock="/y")) == {"D1": None, "P6": "D1"}


def test_the_gravest_come_first() -> None:
    """Red before yellow, then by rule, then the oldest."""
    rules = ["R1", "S3", "L1", "L2", "B1", "S1", "D1"]
    done = folded(one(rule, node=rule) for rule in rules)
    calm = folded([one("D1", severity="info"), one("R1", severity="warning")])

    assert [finding.rule for finding in done] == ["D1", "S1", "B1", "L2", "L1", "S3", "R1"]
    assert [finding.rule for finding in calm] == ["R1", "D1"]


def test_the_older_of_two_comes_first() -> None:
    """The longest trouble of a kind is the first to read."""
    done = folded([one("B1", node="young", since=NOW), one("B1", node="old", since=NOW - SECOND)])

    assert [finding.nodes for finding in done] == [("old",), ("young",)]


def test_the_tables_of_causes_name_rules_that_exist() -> None:
    """A misspelt id would silently fold nothing."""
    named = {rule for ways in CAUSES.values() for rules, _ in ways for rule in rules}

    assert named | CAUSES.keys() | ROOTS | DELAYS <= RANK.keys()


def test_one_session_with_twenty_places_is_no_finding() -> None:
    """Twenty threads that share a client, and nothing else (T26)."""
    members = [k(f"thread-{number}", number, by="pool") for number in range(20)]
    tables = (connected("pool"),)
    past = history(holds=usual(10, 20), stays=held(members[0], SECOND))
    case = ctx(*members, tables=tables, past=past)

    assert not [rule for rule in ("B2", "B3", "B4", "D7", "P6") if found(rule, case)]
