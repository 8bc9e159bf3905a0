"""Which demo client a key acts on: the one under the cursor, by what it does in that lock."""

import pytest
from model.make_facts import NOW, lock, session
from model.semaphores import ANN_LEASE, created, kazoo_pool
from ui.example_ensemble import trouble
from ui.fake_contenders import QUEUE, FakeContenders, contender
from ui.fake_feed import FakeFeed, frames, settled

from zktop.demo_types.contender_order import ContenderOrder, LockClaim
from zktop.demo_types.contender_state import ContenderAction, ContenderState
from zktop.demo_types.scene_moves import SceneProgress
from zktop.ui.actions.contenders import chosen
from zktop.ui.app import Zktop
from zktop.ui.settings import UiSettings
from zktop.ui.view_state import Selection

ORDERS, STOCK = "/zktop-demo/orders", "/zktop-demo/stock"
KILLED = "Killed ann. Its session expires later."
CLAIMS = (LockClaim("predecessor", ORDERS), LockClaim("predecessor", STOCK))
ANN = ContenderState(ContenderOrder("ann", CLAIMS), activity="waits", session=0xA, holds=(ORDERS,))
BOB = ContenderState(
    ContenderOrder("bob", CLAIMS[::-1]), activity="waits", session=0xB, holds=(STOCK,)
)


def name_of(states: list[ContenderState], path: str, action: ContenderAction) -> str:
    """The demo client in the lock at this path that an action applies to."""
    found = chosen(states, Selection(path=path), action)

    assert found is not None
    return found.name


@pytest.mark.parametrize(
    ("path", "action", "name"),
    [
        (ORDERS, "release", "ann"),
        (ORDERS, "cancel", "bob"),
        (STOCK, "kill", "bob"),
        (STOCK, "cancel", "ann"),
    ],
)
def test_a_key_on_a_lock_of_a_deadlock(path: str, action: ContenderAction, name: str) -> None:
    """Each of the two holds one lock and waits for the other: only its part in this one counts."""
    assert name_of([ANN, BOB], path, action) == name


@pytest.mark.parametrize("action", ["release", "freeze", "kill"])
def test_a_frozen_holder_is_still_the_holder(action: ContenderAction) -> None:
    """The second Z thaws it, and does not freeze the first waiter."""
    holder = contender("ann", ORDERS, "frozen", 0xA, holds=(ORDERS,))
    waiter = contender("bob", ORDERS, "waits", 0xB)

    assert name_of([holder, waiter], ORDERS, action) == "ann"


@pytest.mark.parametrize("page", ["2", "4"])
async def test_a_client_chosen_before_is_not_killed(page: str) -> None:
    """Ann is under the cursor of screen 6, then bob under that of another screen."""
    (frame,) = frames((NOW, lock(ORDERS, "ann", "bob")))
    members = frame.report.records[ORDERS].lock.members
    owners = {one.owner: one.node for one in members}
    states = [
        contender(node, ORDERS, state, owner, holds=(ORDERS,) if state == "holds" else ())
        for (owner, node), state in zip(owners.items(), ("holds", "waits"), strict=True)
    ]
    stage = FakeContenders(states=states)
    app = Zktop(FakeFeed(frame), stage, settings=UiSettings(page="demo"))
    async with app.run_test(size=(140, 44)) as pilot:
        await settled(pilot)
        await pilot.press(page)
        await settled(pilot)
        await pilot.press("end")
        await settled(pilot)
        chosen_one = app.page.subject.session if app.page else None
        await pilot.press("K")
        await settled(pilot)

    assert stage.asked == [("kill", owners[chosen_one])]


async def test_a_session_of_another_screen_does_not_hide_the_clients_of_a_lock() -> None:
    """The session on screen 4 was that of an ordinary client; the lock has a demo client."""
    stage = FakeContenders(states=[contender("ann", ORDERS, "holds", 0xA, holds=(ORDERS,))])
    film = frames((NOW, lock(ORDERS, "ann")))
    app = Zktop(FakeFeed(*film), stage, settings=UiSettings(page="sessions"))
    async with app.run_test(size=(140, 44)) as pilot:
        await settled(pilot)
        app.turn_to("locks", Selection(session=session("zoe")))
        await settled(pilot)
        await pilot.press("K")
        await settled(pilot)

    assert stage.asked == [("kill", "ann")]


@pytest.mark.parametrize(
    ("page", "size", "says"),
    [("locks", (140, 44), [KILLED]), ("demo", (140, 44), []), ("demo", (80, 24), [KILLED])],
)
async def test_a_message_names_the_client_that_a_key_acts_on(
    page: str, size: tuple[int, int], says: list[str]
) -> None:
    """Where no log does: a killed client holds its lock until its session expires."""
    ann = contender("ann", ORDERS, "holds", 0xA, holds=(ORDERS,))
    stage = FakeContenders(states=[ann], progress=SceneProgress(QUEUE, "/zktop-demo"))
    film = frames((NOW, lock(ORDERS, "ann")))
    app = Zktop(FakeFeed(*film), stage, settings=UiSettings(page=page))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.subject = Selection(contender="ann")
        await pilot.press("K")
        await settled(pilot)

        said = [one.message for one in app._notifications]
    assert stage.asked == [("kill", "ann")]
    assert said == says


async def test_a_client_of_another_screen_is_not_killed_on_screen_3() -> None:
    """A finding is under the cursor there, no client."""
    stage = FakeContenders(states=[contender("ann", ORDERS, "holds", 0xA, holds=(ORDERS,))])
    app = Zktop(FakeFeed(*trouble()), stage, settings=UiSettings(page="demo"))
    async with app.run_test(size=(140, 44)) as pilot:
        await settled(pilot)
        await pilot.press("3")
        await settled(pilot)
        await pilot.press("K")
        await settled(pilot)

    assert app.subject.session == 0xA
    assert stage.asked == []


@pytest.mark.parametrize("keys", [("X",), ("N", "enter")])
async def test_a_client_that_joins_a_semaphore_expects_its_leases(keys: tuple[str]) -> None:
    """A client that expected another number would be refused."""
    facts = [*kazoo_pool(2), created(ANN_LEASE, "ann", 90)]
    joins = {("kazoo-semaphore", "exclusive"): ("poll", "exclusive")}
    stage = FakeContenders(joins=joins)
    app = Zktop(FakeFeed(*frames((NOW, facts))), stage, settings=UiSettings(page="lock"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        await pilot.press(*"pool", "enter")
        await settled(pilot)

    (started,) = stage.asked
    assert started[1].claims[0].leases == 2
