"""Contexts of rules, made in one call: a lock from znode facts, tables and a history.

Facts become a world, and the world a lock and an ensemble, as in a live run. Owners are names:
`session("alice")` is the same number everywhere.
"""

from array import array
from collections.abc import Iterable, Mapping
from hashlib import md5
from typing import Any

import msgspec
from model.make_facts import NOW, ZK1, connections, own, row, session, watches, world

from zktop.model.facts import AnyFact, Children, Connections, Node, Stat, join
from zktop.model.findings.apply import Examination, examine_lock
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.context import (
    EnsembleContext,
    LockContext,
    SessionContext,
    SharedContext,
    places_in,
)
from zktop.model.findings.finding import Finding, MissingInput, RuleMatch
from zktop.model.findings.listing.causes import WaitsAhead
from zktop.model.findings.listing.list_in_steps import listings
from zktop.model.history.duration_samples import Durations
from zktop.model.history.events import FormerMember, Since
from zktop.model.history.lock_history import FirstLook, LockHistory, Stay
from zktop.model.history.lock_load import NO_MINUTE, MinuteStats
from zktop.model.history.root_changes import RootChanges
from zktop.model.history.session_activity import SessionHistories
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.tables_of_all_servers import Ensemble

PATH = "/locks/orders"
SECOND = 1_000
MINUTE = 60 * SECOND
ZXID = 1_000_000  # of every listing and table here
BY_ID = {rule.id: rule for rule in RULES}


class At(msgspec.Struct, frozen=True):
    """One child of the lock: whose it is, and since when."""

    name: str
    owner: str
    czxid: int | None = None
    age_ms: int = MINUTE
    label: str | None = None


def k(owner: str, number: int, mode: str = "lock", by: str | None = None, **more: object) -> At:
    """A child as kazoo names it; `by` is the owner of the session where another name is meant."""
    name = f"{md5(owner.encode()).hexdigest()}__{mode}__{number:010d}"
    return At(name, owner if by is None else by, label=owner, **more)


def curator(owner: str, number: int, mode: str = "lock", **more: object) -> At:
    """A child as Curator names it: `lock`, `READ`, `WRIT` or `latch`."""
    h = md5(f"{owner}{number}{mode}".encode()).hexdigest()
    uuid = f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"
    marker = f"__{mode}__" if mode in ("READ", "WRIT") else f"{mode}-"
    return At(f"_c_{uuid}-{marker}{number:010d}", owner, label=owner, **more)


def plain(owner: str, number: int, prefix: str = "lock-", **more: object) -> At:
    """A child as many simple clients name it."""
    return At(f"{prefix}{number:010d}", owner, **more)


def facts(
    *children: At, path: str = PATH, stat: Stat | None = None, data: bytes = b"", at: int = NOW
) -> list[AnyFact]:
    """The listing of a lock and its children, as read a moment ago."""
    czxids = [child.czxid or 100 + number for number, child in enumerate(children, start=1)]
    newest = max(czxids, default=100)
    root = stat or Stat(
        50, 50, 0, cversion=len(children), num_children=len(children), pzxid=newest
    )
    names = tuple(Text(child.name) for child in children)
    known: list[AnyFact] = [Children(path=Text(path), names=names, stat=root, zxid=ZXID, at=at)]
    known.append(Node(path=Text(path), stat=root, data=data, zxid=ZXID, at=at))
    for child, czxid in zip(children, czxids, strict=True):
        owner = session(child.owner) if child.owner else 0
        node = Stat(czxid, czxid, at - child.age_ms, owner=owner)
        label = child.owner if child.label is None else child.label
        known.append(
            Node(path=join(path, child.name), stat=node, data=label.encode(), zxid=ZXID, at=at)
        )
    return known


def path_of(child: At, path: str = PATH) -> str:
    """The path of a child."""
    return str(join(path, child.name))


def watching(rows: Mapping[str, Iterable[At | str]], at: int = NOW) -> AnyFact:
    """The watch table: who watches which children (or paths)."""
    rows_by_name = {
        who: tuple(path_of(path) if isinstance(path, At) else path for path in paths)
        for who, paths in rows.items()
    }
    return watches(ZK1, rows_by_name, at=at, zxid=ZXID)


def connected(*names: str, at: int = NOW, **more: object) -> Connections:
    """A connection table in which these sessions were active just now."""
    return connections(ZK1, *(row(name, **more) for name in names), at=at, zxid=ZXID)


def sessions(*tables: AnyFact) -> SessionHistories:
    """The histories of the sessions in these tables."""
    folded, known = SessionHistories(), world()
    for table in tables:
        known = known.after(table)
        folded.look(Ensemble.of(known, known.at))
    return folded


def usual(median: int, p99: int) -> Durations:
    """A history of finished holds with these quantiles."""
    return Durations(array("I", [median] * 98 + [p99] * 2), 100)


def held(node: At, ms: int, *, waited: bool = True) -> PersistentMap[Text, Stay]:
    """How long a node has been held, and whether its wait was observed."""
    since = Since(NOW - ms, "seen" if waited else "at-least")
    return PersistentMap({Text(node.name): Stay(Since(NOW - ms - SECOND, "seen"), since)})


class Minute(MinuteStats):
    """The last minute of a lock, with these figures."""

    queue: tuple[int | None, ...] = NO_MINUTE.queue
    requests_per_s: float | None = None
    releases_per_s: float | None = None
    busy: float | None = None

    def __init__(self, **figures: Any) -> None:
        self.__dict__.update(figures)


def history(**more: Any) -> LockHistory:
    """A history that began ten minutes ago; some figures are those of its last minute."""
    first = FirstLook(NOW - 10 * MINUTE, NOW - 10 * MINUTE)
    minute = Minute(**{key: more.pop(key) for key in [*more] if key in Minute.__annotations__})
    return LockHistory(**{"at": NOW, "first_look": first, "minute": minute, **more})


def gone(
    owner: str,
    czxid: int,
    ending: str,
    ago: int = SECOND,
    mode: str = "exclusive",
    **more: object,
) -> object:
    """One former member."""
    node, label = Text(f"{owner}-{czxid}"), Text(owner)
    return FormerMember(node, session(owner), label, mode, czxid, NOW - ago, ending, **more)


def shared_context(
    *tables: AnyFact, settings: Settings | None = None, **more: object
) -> SharedContext:
    """What all rules share; the sessions' past is that of the tables, one after the other."""
    known = world(own("zktop"), *tables)
    return SharedContext(
        ensemble=Ensemble.of(known, NOW),
        **{
            "world": known,
            "sessions": sessions(*tables),
            "settings": settings or Settings(),
            "now_ms": NOW,
            **more,
        },
    )


def ctx(
    *children: At,
    tables: Iterable[AnyFact] = (),
    past: LockHistory | None = None,
    settings: Settings | None = None,
    more_facts: Iterable[AnyFact] = (),
    stat: Stat | None = None,
    data: bytes = b"",
    path: str = PATH,
    lock: Mapping[str, object] | None = None,
    root: RootChanges | None = None,
    **more: object,
) -> LockContext:
    """One lock to look at; `lock` replaces fields of what the facts make of it."""
    settings = settings or Settings()
    known = world(*facts(*children, path=path, stat=stat, data=data), *more_facts, *tables)
    made = lock_at(path, known, settings, NOW)
    assert isinstance(made, Lock), made
    if lock:
        made = msgspec.structs.replace(made, **lock)
    return LockContext(
        lock=made,
        shared=shared_context(*tables, settings=settings, **{"world": known, **more}),
        past=past or history(),
        root=root or RootChanges(),
    )


def found(rule: str, case: LockContext | SessionContext | EnsembleContext) -> list[Finding]:
    """Apply one rule, without any pre-test."""
    return [BY_ID[rule].finding(verdict, NOW) for verdict in verdicts(rule, case)]


def answers(rule: str, case: LockContext | SessionContext | EnsembleContext) -> list[object]:
    """All results of a rule."""
    return list(BY_ID[rule].check(case))


def lacks(rule: str, case: LockContext | SessionContext | EnsembleContext) -> list[str]:
    """The inputs that a rule misses in this one case."""
    return [one.need for one in answers(rule, case) if isinstance(one, MissingInput)]


def verdicts(rule: str, case: LockContext | SessionContext | EnsembleContext) -> list[RuleMatch]:
    """The verdicts of a rule."""
    return [one for one in answers(rule, case) if isinstance(one, RuleMatch)]


def only(rule: str, case: LockContext | SessionContext | EnsembleContext) -> Finding:
    """Apply one rule that must find exactly one thing."""
    (finding,) = found(rule, case)
    return finding


def rules_of(examined: Examination) -> set[str]:
    """The ids of the rules that found something."""
    return {finding.rule for finding in examined.findings}


def all_rules(case: LockContext) -> set[str]:
    """Apply the whole catalogue to one lock."""
    return rules_of(examine_lock(case))


def session_context(
    who: str, *children: At, tables: Iterable[AnyFact] = (), path: str = PATH, **more: object
) -> SessionContext:
    """A session with its places in one lock."""
    case = ctx(*children, tables=tables, path=path)
    places = places_in([case.lock], session(who))
    return SessionContext(session(who), places, shared=shared_context(*tables, **more))


def ensemble_context(*tables: AnyFact, **more: object) -> EnsembleContext:
    """Give everything that concerns no single lock."""
    return EnsembleContext(shared=shared_context(*tables, world=world(*tables)), **more)


def folded(findings: Iterable[Finding], ahead: WaitsAhead | None = None) -> tuple[Finding, ...]:
    """All findings in screen order; each effect has the id of its cause."""
    *_, listing = listings(findings, ahead or WaitsAhead({}, {}))
    return listing.findings if listing else ()
