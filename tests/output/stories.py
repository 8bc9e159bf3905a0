"""Build worlds, and recordings of them, from one line of text.

`X x: A B ; L rw: A.R B.W ; P sem(2): A C ; E elect: L F` names each lock, its kind and its
contenders in order. Each contender has a session; the znodes are as real libraries write them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.make_facts import NOW, ZK1, connections, kazoo_name, own, row, session, watches

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Node, Stat, join
from zktop.model.layouts.layout import Layout
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.output.schema import SnapshotJson
from zktop.output.snapshot_json import snapshot
from zktop.recording import Header, Recorder

LATER = NOW + 60_000
SETTLE = 2_000
LAYOUTS = (
    Layout(name="pool", pattern="^pool-{SEQ}$", mode="lease"),
    Layout(name="post", pattern="^post-{SEQ}$", mode="candidate"),
)
_QUEUE = re.compile(r"(?P<name>\w+) (?P<kind>x|rw|sem|elect)(?:\((?P<leases>\d)\))?: (?P<who>.*)")
_NAMES = {"sem": "pool-{:010d}", "elect": "post-{:010d}"}


def settings(story: str) -> Settings:
    """The settings that a story needs."""
    roots = [root for made in _queues(story) for root in _root(made)]
    return Settings(roots=(*roots, Root("/locks/**")), layouts=LAYOUTS)


def _root(made: re.Match[str]) -> Iterator[Root]:
    path = f"/locks/{made['name'].lower()}"
    if made["kind"] == "sem":
        yield Root(path, layout="pool", leases=int(made["leases"]))
    if made["kind"] == "elect":
        yield Root(path, layout="post", blocking=True)


def facts(story: str, at: int = NOW, zxid: int = 100) -> list[AnyFact]:
    """The facts of a story, read at once; the first contender of every queue joined first."""
    queues = [(f"/locks/{q['name'].lower()}", q["kind"], q["who"].split()) for q in _queues(story)]
    order = sorted((n, path) for path, _, who in queues for n in range(len(who)))
    czxids = {place: zxid + number for number, place in enumerate(order, start=1)}
    newest = zxid + len(order)
    known: list[AnyFact] = [own(at=at)]
    for path, kind, who in queues:
        names = tuple(_name(kind, place, number) for number, place in enumerate(who))
        count = len(names)
        root = Stat(10, 10, 0, cversion=count, num_children=count, pzxid=newest)
        known.append(Children(path=Text(path), names=names, stat=root, zxid=newest, at=at))
        for number, (place, name) in enumerate(zip(who, names, strict=True)):
            czxid, owner = czxids[number, path], place.partition(".")[0]
            stat = Stat(czxid, czxid, at - 30_000, owner=session(owner))
            node = join(path, name)
            known.append(Node(path=node, stat=stat, data=owner.encode(), zxid=newest, at=at))
    return known


def tables(names: Iterable[str], watched: dict[str, tuple[str, ...]], at: int) -> list[AnyFact]:
    """One server's tables: all sessions are connected and quiet, and these watches are set."""
    rows = [row(name, quiet_ms=100) for name in names]
    return [connections(ZK1, *rows, at=at), watches(ZK1, watched, at=at)]


def recorded(
    file: Path,
    *moments: tuple[int, Iterable[AnyFact]],
    judged_by: Settings | None = None,
) -> Path:
    """Record a run with these facts, and a look at each of these moments."""
    known = judged_by or Settings()
    header = Header(tool="zktop", hosts="zk1:2181/app", roots=[], settings=known)
    with file.open("wb") as out:
        recorder = Recorder(out, header)
        for at, facts in moments:
            recorder.facts(facts)
            recorder.look(at)
        recorder.close()
    return file


def recorded_story(file: Path, story: str, *more: AnyFact) -> Path:
    """Record a story in which nothing changes, for long enough to confirm its findings."""
    return recorded(
        file,
        (LATER, [*facts(story), *more]),
        (LATER + SETTLE, []),
        judged_by=settings(story),
    )


def _name(kind: str, place: str, number: int) -> Text:
    owner, _, mode = place.partition(".")
    if kind in _NAMES:
        return Text(_NAMES[kind].format(number))
    return kazoo_name(f"{owner}{number}", number, "rlock" if mode == "R" else "lock")


def _queues(story: str) -> Iterator[re.Match[str]]:
    for part in story.split(" ; "):
        made = _QUEUE.fullmatch(part)
        assert made, part
        yield made


def report(story: str, *more: AnyFact, judged_by: Settings | None = None) -> Report:
    """The second report on a story."""
    examiner = Examiner(judged_by or settings(story))
    world = World().after(*facts(story), *more)
    examiner.look(world, LATER)
    return examiner.look(world, LATER + SETTLE)


def shot(story: str, *more: AnyFact, judged_by: Settings | None = None) -> SnapshotJson:
    """The snapshot of a story."""
    return snapshot(report(story, *more, judged_by=judged_by), "zk1:2181,zk2:2181", "/app")
