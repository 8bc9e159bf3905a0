"""Locks of every length, and who is in trouble there: what screens 2 and 3 are tested with."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import count

from model.builders import NOW, ZK1, connections, row
from model.findings.cases import At, facts, k, path_of, watching
from textual.pilot import Pilot
from ui.fake_feed import app_of, frames, settled

from zktop.model.facts import AnyFact
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.ui.app import Zktop
from zktop.ui.ports import Frame
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.state import Selection

ORDERS, STOCK = "/locks/orders", "/locks/stock"
LATER = 5_000


def queue(modes: str) -> list[At]:
    """Give contenders in this order of modes: `WRRW`, or `XXX`; their names are w0, r1, ..."""
    markers = {"W": "lock", "X": "lock", "R": "rlock"}
    return [
        k(f"{mode.lower()}{number}", number, markers[mode]) for number, mode in enumerate(modes)
    ]


def looked(
    *told: Iterable[AnyFact], later: int = LATER, settings: Settings | None = None
) -> list[Frame]:
    """Look twice at a world: what is wrong must last to be believed."""
    all_facts = [fact for some in told for fact in some]
    return frames((NOW, all_facts), (NOW + later, []), (NOW + 2 * later, []), settings=settings)


def lock_of(modes: str, *tables: AnyFact, path: str = ORDERS) -> Report:
    """Look at one lock with this queue."""
    return looked([*facts(*queue(modes), path=path), *tables])[-1].report


def lock_detail(modes: str, *tables: AnyFact, is_ascii: bool = False) -> LockDetail:
    """Give the detail of a lock with this queue."""
    detail = LockDetail.of(lock_of(modes, *tables), ORDERS, is_ascii=is_ascii)
    assert detail is not None
    return detail


def ring_of(*owners: str, behind: int = 0) -> list[AnyFact]:
    """Give locks that these owners hold, each of them waiting for the next one's."""
    told: list[AnyFact] = []
    numbers = count(100)
    paths = [f"/locks/l{number}" for number in range(len(owners))]
    held = {path: next(numbers) for path in paths}
    for at, path in enumerate(paths):
        children = [
            k(owners[at], 1, czxid=held[path]),
            k(f"{owners[at - 1]}", 2, by=owners[at - 1], czxid=next(numbers)),
            *(k(f"late-{at}-{n}", 3 + n, czxid=next(numbers)) for n in range(behind)),
        ]
        told += facts(*children, path=path)
    return told


def seen_watching(children: list[At], targets: dict[int, int | None]) -> AnyFact:
    """Give a watch table: the child at this place watches the one at that place, or nothing."""
    rows = {
        children[who].owner: () if at is None else (path_of(children[at]),)
        for who, at in targets.items()
    }
    return watching(rows)


def all_connected(children: Iterable[At]) -> AnyFact:
    """Give a connection table in which everybody is there."""
    return connections(ZK1, *(row(one.owner) for one in children))


@asynccontextmanager
async def page_on(
    page: str,
    some: list[Frame],
    size: tuple[int, int] = (120, 36),
    subject: Selection | None = None,
) -> AsyncIterator[tuple[Zktop, Pilot[int]]]:
    """Show a page on these frames, about this."""
    app = app_of(*some, page=page)
    async with app.run_test(size=size) as pilot:
        if subject is not None:
            app.subject = subject
        await settled(pilot)
        yield app, pilot


async def shown(pilot: Pilot[int], *keys: str) -> str:
    """Give what is on the screen after these keys."""
    await pilot.press(*keys)
    return "\n".join(await settled(pilot))
