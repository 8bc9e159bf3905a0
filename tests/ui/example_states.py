"""Situations of an ensemble, as the news that the UI receives, for the golden screens.

All times are given, so that a screen is the same in every run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from model.findings.cases import facts as lock_of
from model.findings.cases import k
from model.make_facts import (
    NOW,
    ZK1,
    connections,
    expiry,
    figures,
    kazoo_name,
    lock,
    no_connections,
    no_watches,
    own,
    row,
    session,
    watches,
)
from msgspec.structs import replace
from ui.example_ensemble import IMPORT, orphan
from ui.example_queues import path_of
from ui.fake_contenders import AB_BA, FakeContenders, contender
from ui.fake_feed import frames

from zktop.demo_types.contender_order import RecipeInfo
from zktop.demo_types.contender_state import LogLine
from zktop.demo_types.lesson import Lesson, LessonPart
from zktop.demo_types.scene_moves import SceneProgress
from zktop.model.facts import AnyFact, Gone, Millis, Server, join
from zktop.model.text import Text
from zktop.ui.interfaces import Frame, News, Status

END = NOW + 60_000
STEP = 5_000
SERVICES = ("billing", "cart", "mail-1", "mail-2", "report", "search-1", "search-2", "stock-7")
READERS = tuple(f"web-{number}" for number in range(1, 7))
PRICES = "/locks/prices"

Tables = Callable[[Millis], Sequence[AnyFact]]


@dataclass(frozen=True)
class Situation:
    """The news, the demo contenders, and the kind of terminal."""

    news: Sequence[News]
    stage: FakeContenders
    is_ascii: bool = False


def look_for_a_minute(
    *facts: AnyFact,
    tables: Tables | None = None,
    later: Callable[[Millis], Sequence[AnyFact]] | None = None,
) -> list[Frame]:
    """Frames every five seconds for a minute, with fresh tables; `later` adds other facts."""
    asked = tables or (lambda _at: ())
    looks = range(NOW + STEP, END + 1, STEP)
    changes = ((at, (*asked(at), *(later(at) if later else ()))) for at in looks)
    return frames((NOW, (*asked(NOW), *facts)), *changes)


def well(watched: Mapping[str, tuple[str, ...]], *names: str) -> Tables:
    """The tables of one server to which all these sessions are connected."""

    def tables(at: Millis) -> tuple[AnyFact, ...]:
        passed = (at - NOW) // 1000
        rows = [
            row(name, 400 + 700 * (number % 4), received=40 + passed * (1 + number % 3))
            for number, name in enumerate(names)
        ]
        zxid = 3_000_000 + at
        return (
            replace(own(at=at), server=ZK1, zxid=zxid),
            Server(
                server=ZK1,
                mode=Text("standalone"),
                version=Text("3.8.4"),
                connections=len(names) + 1,
                watches=sum(map(len, watched.values())),
                latency_ms=(0, 0.4, 21),
                outstanding=0,
                znodes=1_204,
                server_zxid=zxid,
                channel="4lw",
                at=at,
                zxid=zxid,
            ),
            connections(ZK1, *rows, at=at, zxid=zxid),
            expiry(ZK1, dict.fromkeys(names, 9_000), at=at),
            watches(ZK1, watched, at=at, zxid=zxid),
        )

    return tables


def watched(path: str, *owners: str) -> dict[str, tuple[str, ...]]:
    """Each waiter in this queue watches the node before its own, as in the recipe."""
    nodes = [str(join(Text(path), kazoo_name(owner, n))) for n, owner in enumerate(owners)]
    return {owner: (node,) for owner, node in zip(owners[1:], nodes, strict=False)}


def idle_stage() -> FakeContenders:
    """No demo contender runs."""
    return FakeContenders(lessons=LESSONS, recipes=RECIPES)


LESSONS = (
    Lesson(
        "A deadlock",
        "ann holds orders and asks for stock; bob holds stock and asks for orders.",
        (LessonPart("ab-ba", "2 clients block each other."),),
        "How long will they wait?",
        "Forever.",
        ("two locks", "one queue", "the cycle", "two sessions", "when it began"),
    ),
)
RECIPES = (
    RecipeInfo("predecessor", "article 1", "", "Watches the one before it.", ("exclusive",)),
    RecipeInfo("rw", "article 3", "", "Readers share, writers wait.", ("read", "write")),
)


def empty() -> Situation:
    """Connected; there are no locks."""
    return Situation(look_for_a_minute(tables=well({}, "web-1", "web-2")), idle_stage())


@cache
def busy_frames() -> list[Frame]:
    """Locks go from hand to hand, readers share, and nothing is wrong."""
    readers = [k(name, number, "rlock") for number, name in enumerate(READERS)]
    prices = lock_of(*readers, k("import", 6, "lock"), k("web-7", 7, "rlock"), path=PRICES)
    queues = {f"/locks/{name}": (name, *NEXT.get(name, ())) for name in SERVICES}
    facts = [one for path, owners in queues.items() for one in lock(path, *owners)]
    seen = {"import": (path_of(readers[-1], PRICES),), "web-7": (path_of(k("import", 6), PRICES),)}
    for path, owners in queues.items():
        seen |= watched(path, *owners)
    names = [name for owners in queues.values() for name in owners]
    tables = well(seen, *names, *READERS, "import", "web-7", "idle")
    return look_for_a_minute(*prices, *facts, tables=tables, later=_turn)


NEXT = {
    "billing": ("bill-2", "bill-3"),
    "cart": tuple(f"cart-{number}" for number in range(2, 15)),
    "report": ("report-2",),
}


def _turn(at: Millis) -> list[AnyFact]:
    """The cart's lock changes hands at every look."""
    number = (at - NOW) // STEP - 1
    owner = ("cart", *NEXT["cart"])[number]
    path = join(Text("/locks/cart"), kazoo_name(owner, number))
    return [Gone(path=path, zxid=2_000_000 + at, at=at)]


def busy() -> Situation:
    """Normal traffic with one demo contender."""
    return Situation(busy_frames(), FakeContenders(states=CONTENDERS, lines=SAID, recipes=RECIPES))


ORDERS, STOCK_PRICES = "/zktop-demo/ab-ba/orders", "/zktop-demo/ab-ba/prices"
CONTENDERS = (
    contender(
        "ann",
        ORDERS,
        "holds",
        session("ann"),
        "I hold orders.",
        recipe="predecessor",
        holds=(ORDERS,),
    ),
    contender("bob", ORDERS, "waits", session("bob"), "I wait for ann.", recipe="predecessor"),
    contender("dan", STOCK_PRICES, "killed by signal 9", session("dan"), recipe="rw", mode="read"),
)
SAID = (
    LogLine(NOW, "", "[1/2] ann takes orders."),
    LogLine(NOW + 200, "ann", "creates /zktop-demo/ab-ba/orders/lock-0000000000"),
    LogLine(NOW + 2_000, "", "[2/2] bob asks for orders."),
    LogLine(NOW + 2_200, "bob", "watches lock-0000000000 and waits"),
)


@cache
def deadlock_frames() -> list[Frame]:
    """Two clients deadlock, others queue behind them, and a lock is orphaned."""
    queues = {
        "/locks/orders": ("pay-worker-3", "ship-worker-1", "web-1"),
        "/locks/stock": ("ship-worker-1", "pay-worker-3", "web-2", "web-3"),
        "/locks/mail": ("mail-1", "mail-2"),
    }
    facts = [one for path, owners in queues.items() for one in lock(path, *owners)]
    seen = watched(IMPORT, "zed", "yan")
    for path, owners in queues.items():
        seen |= watched(path, *owners)
    names = dict.fromkeys(name for owners in queues.values() for name in owners)
    return look_for_a_minute(
        *facts, *orphan(IMPORT, "zed", "yan"), tables=well(seen, *names, "yan")
    )


def deadlock() -> Situation:
    """A demo scene with the same deadlock runs, too."""
    progress = SceneProgress(AB_BA, "/zktop-demo/ab-ba", played=1, is_moving=True)
    ours = FakeContenders(
        states=CONTENDERS, lines=SAID, progress=progress, lessons=LESSONS, recipes=RECIPES
    )
    return Situation(deadlock_frames(), ours)


def lost() -> Situation:
    """The deadlock, and then the connection is lost."""
    says = (
        "The connection to zk1:2181 was lost 12s ago (connection refused): "
        "this picture is of the past. Trying again."
    )
    before = deadlock()
    return Situation((*before.news, Status("lost", says)), before.stage)


def failed() -> Situation:
    """The first connection attempt has failed."""
    says = "No connection to zk1:2181 within 10s: connection refused. Trying again."
    return Situation((Status("failed", says),), idle_stage())


def blind() -> Situation:
    """The server hides its connections and watches."""
    hidden = (own(), figures(ZK1), no_connections(ZK1), no_watches(ZK1))
    ring = (
        *lock("/locks/orders", "pay-worker-3", "ship-worker-1"),
        *lock("/locks/mail", "mail-1", "mail-2", "mail-3"),
    )
    return Situation(look_for_a_minute(*hidden, *ring), idle_stage())


@cache
def many_frames() -> list[Frame]:
    """Ten thousand locks; a thousand wait for one of them."""
    crowd = tuple(f"w-{number}" for number in range(1_000))
    apps = tuple(f"app-{number}" for number in range(2_500))
    facts = [
        one
        for number in range(1, 10_000)
        for one in lock(f"/locks/user/{number:05d}", apps[number % len(apps)])
    ]
    crowded = ("app-1", *crowd)
    tables = well(watched("/locks/everybody", *crowded), *apps, *crowd)
    everything = (*tables(NOW), *facts, *lock("/locks/everybody", *crowded))
    return frames((NOW, everything), (NOW + STEP, tables(NOW + STEP)))


def many() -> Situation:
    """The same frames, without demo contenders."""
    return Situation(many_frames(), idle_stage())


def plain() -> Situation:
    """The deadlock on a terminal that only has ASCII."""
    before = deadlock()
    return Situation(before.news, before.stage, is_ascii=True)


SITUATIONS: dict[str, Callable[[], Situation]] = {
    "empty": empty,
    "busy": busy,
    "deadlock": deadlock,
    "lost": lost,
    "failed": failed,
    "blind": blind,
    "many": many,
    "ascii": plain,
}
