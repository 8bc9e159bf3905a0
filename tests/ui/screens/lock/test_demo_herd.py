"""Screen 2 draws the watches on children that demo clients report; no server lists them."""

from model.make_facts import NOW, ZK1, connections, lock, own, row, session, watches
from ui.fake_contenders import FakeContenders, contender
from ui.fake_feed import FakeFeed, frames, pressed, settled

from zktop.demo_types.contender_state import Watched
from zktop.ui.app import Zktop
from zktop.ui.settings import UiSettings

JOBS = "/zktop-demo/herd/jobs"
NAMES = ("ann", "bob", "cid")


async def shown(watched: Watched | None, *keys: str) -> str:
    """Screen 2 of a lock with two waiters that report this watch."""
    states = [contender(one, JOBS, "waits", session(one), watches=watched) for one in NAMES[1:]]
    table = watches(ZK1, {"bob": (), "cid": ()})
    facts = (own(), connections(ZK1, *map(row, NAMES)), table, *lock(JOBS, *NAMES))
    feed, port = FakeFeed(*frames((NOW, facts))), FakeContenders(states=states)
    app = Zktop(feed, port, settings=UiSettings(page="lock"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, *keys)
        return "\n".join(await settled(pilot))


async def test_arrows_lead_to_the_holder_whose_release_wakes_all() -> None:
    """They are solid, because the demo clients report their watches."""
    text = await shown(Watched(JOBS, "children"))

    assert "◀─╮" in text
    assert "──┤ children" in text
    assert "──╯ children" in text


async def test_the_wake_map_says_that_any_change_wakes_all() -> None:
    """That means whenever a client joins or leaves."""
    text = await shown(Watched(JOBS, "children"))

    assert "every change wakes all of them, as the demo clients report" in text


async def test_the_selected_client_says_what_it_watches() -> None:
    """Not that it watches nothing."""
    text = " ".join((await shown(Watched(JOBS, "children"), "j")).split())

    assert "the lock's children" in text
    assert "nothing will wake it" not in text


async def test_a_watch_on_the_children_of_another_lock_proves_nothing() -> None:
    """The servers' tables count then."""
    text = await shown(Watched("/zktop-demo/herd/other", "children"))

    assert "──╯ children" not in text
