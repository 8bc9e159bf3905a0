"""Queues of any length and deadlocks, for the tests of screens 2 and 3."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import count

from model.findings.cases import At, facts, k, path_of, plain, watching
from model.make_facts import NOW, ZK1, connections, row
from textual.pilot import Pilot
from ui.fake_feed import app_of, frames, settled

from zktop.model.facts import AnyFact
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.view_state import Selection

ORDERS, STOCK = "/locks/orders", "/locks/stock"
LATER = 5_000


def queue(modes: str) -> list[At]:
    """Contenders in this order of modes, `WRRW` or `XXX`, named w0, r1, ..."""
    markers = {"W": "lock", "X": "lock", "R": "rlock"}
    return [
        k(f"{mode.lower()}{number}", number, markers[mode]) for number, mode in enumerate(modes)
    ]


def looked(
    *groups: Iterable[AnyFact], later: int = LATER, settings: Settings | None = None
) -> list[Frame]:
    """Frames of three looks, because a match becomes a finding only when it lasts."""
    all_facts = [fact for group in groups for fact in group]
    return frames((NOW, all_facts), (NOW + later, []), (NOW + 2 * later, []), settings=settings)


def lock_of(modes: str, *tables: AnyFact, path: str = ORDERS) -> Report:
    """A report with one lock that has this queue."""
    return looked([*facts(*queue(modes), path=path), *tables])[-1].report


def lock_detail(modes: str, *tables: AnyFact, is_ascii: bool = False) -> LockDetail:
    """The detail of a lock with this queue."""
    detail = LockDetail.of(lock_of(modes, *tables), ORDERS, is_ascii=is_ascii)
    assert detail is not None
    return detail


def ring_of(*owners: str, behind: int = 0) -> list[AnyFact]:
    """Locks that these owners hold, each waiting for the next one's."""
    known: list[AnyFact] = []
    numbers = count(100)
    paths = [f"/locks/l{number}" for number in range(len(owners))]
    held = {path: next(numbers) for path in paths}
    for at, path in enumerate(paths):
        children = [
            k(owners[at], 1, czxid=held[path]),
            k(f"{owners[at - 1]}", 2, by=owners[at - 1], czxid=next(numbers)),
            *(k(f"late-{at}-{n}", 3 + n, czxid=next(numbers)) for n in range(behind)),
        ]
        known += facts(*children, path=path)
    return known


def soft_ring() -> list[AnyFact]:
    """A deadlock in which bob, who reads, waits for wil, a writer that is only queued."""
    return [
        *facts(
            k("ann", 0, "rlock", czxid=100), k("wil", 1, czxid=101),
            k("bob", 2, "rlock", czxid=102), path="/locks/x",
        ),
        *facts(k("bob", 0, czxid=90), k("ann", 1, czxid=110), path="/locks/y"),
    ]  # fmt: skip


def two_queues(*facts_of_others: AnyFact) -> Report:
    """Two locks in one folder: ann holds stock, xen holds price; bob and yve wait for them."""
    members = [
        plain(owner, number, prefix, czxid=120 + number)
        for number, (owner, prefix) in enumerate(
            [("ann", "stock-"), ("bob", "stock-"), ("xen", "price-"), ("yve", "price-")]
        )
    ]
    roots = Root(path=STOCK, layout="named-sequence"), Root(path="/locks/*")
    return looked(facts(*members, path=STOCK), facts_of_others, settings=Settings(roots=roots))[
        -1
    ].report


def seen_watching(children: list[At], targets: dict[int, int | None]) -> AnyFact:
    """A watch table: which child watches which other one, by index; None watches nothing."""
    rows = {
        children[who].owner: () if at is None else (path_of(children[at]),)
        for who, at in targets.items()
    }
    return watching(rows)


def all_connected(children: Iterable[At]) -> AnyFact:
    """A connection table that lists all owners."""
    return connections(ZK1, *(row(child.owner) for child in children))


@asynccontextmanager
async def page_on(
    page: str,
    some: list[Frame],
    size: tuple[int, int] = (120, 36),
    subject: Selection | None = None,
) -> AsyncIterator[tuple[Zktop, Pilot[int]]]:
    """The app on one screen, with these frames and this selection."""
    app = app_of(*some, page=page)
    async with app.run_test(size=size) as pilot:
        if subject is not None:
            app.subject = subject
        await settled(pilot)
        yield app, pilot


async def shown(pilot: Pilot[int], *keys: str) -> str:
    """The text on screen after these keys."""
    await pilot.press(*keys)
    return "\n".join(await settled(pilot))
