"""R8 and R9: roots that do not exist or may not be listed; with a near miss each."""

from collections.abc import Iterable

import pytest
from model.builders import NOW, ZK1, expiry, watches
from model.findings.cases import found, only, shared_context
from msgspec.structs import replace

from zktop.model.facts import AnyFact, Children, Denied, Gone, Node, Stat
from zktop.model.findings.context import EnsembleContext
from zktop.model.settings import Root, Settings
from zktop.model.text import Text
from zktop.model.world.world import World

STAT = Stat(1, 1, 0, num_children=12)


def asked(*roots: str, facts: Iterable[AnyFact], own: str = "/zktop-demo/**") -> EnsembleContext:
    """These roots were asked for."""
    settings = Settings(roots=(*map(Root, roots), Root(own)), own_roots=(own,))
    known = World().after(*facts)
    tables = [
        fact
        for one in known.tables.values()
        for fact in (one.server, one.connections, one.watches, one.expiry)
        if fact is not None
    ]
    return EnsembleContext(shared=shared_context(*tables, settings=settings), world=known)


def top(*names: str, path: str = "/") -> Children:
    """The children of a znode."""
    return Children(path=Text(path), names=tuple(map(Text, names)), stat=STAT, zxid=9, at=NOW)


def gone(path: str) -> Gone:
    """No such znode."""
    return Gone(path=Text(path), zxid=8, at=NOW)


@pytest.mark.parametrize(
    ("root", "names", "sentence"),
    [
        ("/nope", ("app",), "/nope does not exist (yet)."),
        ("/nope/**", ("app",), "/nope does not exist (yet) (root /nope/**)."),
        ("/lock", ("app", "locks"), "/lock does not exist (yet). Did you mean /locks?"),
        (
            "/lock/x/*",
            ("app", "locks"),
            "/lock does not exist (yet) (root /lock/x/*). Did you mean /locks/x/*?",
        ),
    ],
)
def test_r8_fires_for_a_root_that_is_not_there(
    root: str, names: tuple[str, ...], sentence: str
) -> None:
    """It names the znode that is missing, and the one that looks like it."""
    finding = only("R8", asked(root, facts=[gone(root.partition("/*")[0]), top(*names)]))

    assert (finding.sentence, finding.severity) == (sentence, "warning")


def test_r8_fires_without_a_listing_beside_it() -> None:
    """What is above may not be listed."""
    assert only("R8", asked("/nope", facts=[gone("/nope")])).confidence == "C4"


def test_r8_fires_once_for_each_missing_root() -> None:
    """And not for the one that is there."""
    facts = [top("locks"), gone("/a"), gone("/b")]

    assert len(found("R8", asked("/a", "/locks/**", "/b/*", facts=facts))) == 2


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [top("locks")],
        [gone("/locks"), Node(path=Text("/locks"), stat=replace(STAT, czxid=10), zxid=10, at=NOW)],
        [top("locks"), top(path="/locks")],
    ],
    ids=["nothing read", "there", "created since", "empty"],
)
def test_r8_is_quiet_where(facts: list[AnyFact]) -> None:
    """Unknown is not missing; and a missing demo root is normal."""
    assert not found("R8", asked("/locks/**", facts=[*facts, gone("/zktop-demo")]))


def denied(*more: AnyFact, root: str = "/locks/**") -> EnsembleContext:
    """A root whose children may not be listed."""
    refusal = Denied(path=Text("/locks"), what="list", zxid=9, at=NOW)
    return asked(root, facts=[refusal, *more])


def test_r9_fires_for_a_root_that_may_not_be_listed() -> None:
    """How much is hidden, by its Stat."""
    stat = Node(path=Text("/locks"), stat=STAT, zxid=9, at=NOW)

    assert only("R9", denied(stat)).sentence == (
        "zktop may not list /locks (root /locks/**): 12 children are hidden. "
        "The servers' tables show nothing below it."
    )


def test_r9_fires_with_what_the_tables_show_all_the_same() -> None:
    """Watch tables and dumps obey no ACL."""
    watched = watches(ZK1, {"bob": ("/locks/a/1", "/other"), "cid": ("/locks/a/1", "/locks/a/2")})
    dumped = replace(expiry(ZK1, {}), ephemerals={7: (Text("/locks/a/1"), Text("/locks/b/1"))})

    assert only("R9", denied(watched, dumped)).sentence == (
        "zktop may not list /locks (root /locks/**): all its children are hidden. "
        "Watch tables and dumps show 3 paths of 3 sessions below it."
    )


def test_r9_is_quiet_for_a_root_that_may_be_listed() -> None:
    """And for an exact one: that is shown as a lock, with its error."""
    assert not found("R9", asked("/locks/**", facts=[top("locks"), top("a", path="/locks")]))
    assert not found("R9", denied(root="/locks"))
