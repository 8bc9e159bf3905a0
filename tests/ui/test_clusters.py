"""Clusters: each keeps its past and the user's place in it, and a list shows all of them."""

from collections.abc import Mapping

import pytest
from model.make_facts import NOW, lock
from textual.pilot import Pilot
from ui.example_ensemble import ORDERS, trouble
from ui.fake_contenders import FakeContenders
from ui.fake_feed import FakeFeed, frames, pressed, settled, until

from zktop.ui.app import Zktop
from zktop.ui.dialogs.clusters import ClusterDialog
from zktop.ui.interfaces import OpenCluster, Status
from zktop.ui.settings import UiSettings
from zktop.ui.styled_text import text_of
from zktop.ui.widgets.text_view import TextList

QUIET = frames((NOW, lock("/eu/quiet", "ann")), (NOW + 9_000, lock("/eu/quiet", "ann")))


class TwoClusters:
    """The clusters `us` and `eu`; remembers what was opened."""

    def __init__(self) -> None:
        self.hosts: Mapping[str, str] = {"us": "zk-us:2181", "eu": "zk-eu:2181/app"}
        self.us = OpenCluster(FakeFeed(*trouble(), name="us"), FakeContenders())
        self.eu = OpenCluster(FakeFeed(*QUIET, name="eu"), FakeContenders())
        self.opened: list[str] = []

    def open(self, name: str) -> OpenCluster:
        """Open the cluster of this name."""
        self.opened.append(name)
        return self.us if name == "us" else self.eu

    def send_from_eu(self, *news: object) -> None:
        """Send news from `eu`."""
        for item in news:
            self.eu.feed.send(item)  # type: ignore[attr-defined]  # the feed of a test

    def app(self, **settings: object) -> Zktop:
        """The UI, which starts on `us`."""
        first = self.open("us")
        return Zktop(first.feed, first.contenders, None, UiSettings(**settings), self)


async def turned(pilot: Pilot[int], app: Zktop, name: str) -> list[str]:
    """Switch to a cluster, and return what is shown then."""
    app.turn_to_cluster(name)
    await until(pilot, lambda: app.page is not None and not app.key_queue.is_busy, f"{name}")
    return await settled(pilot)


async def test_the_locks_of_another_cluster_are_shown() -> None:
    """Its name is in the header, and no lock of the first cluster is on screen."""
    clusters = TwoClusters()
    app = clusters.app()
    async with app.run_test(size=(120, 36)) as pilot:
        before = await settled(pilot)
        after = await turned(pilot, app, "eu")

    assert "zktop  us" in before[0]
    assert "zktop  eu" in after[0]
    assert any("/eu/quiet" in one for one in after)
    assert not any(ORDERS in one for one in after)


async def test_coming_back_shows_where_the_user_was() -> None:
    """The page, what is selected on it, and the moment of the past."""
    app = TwoClusters().app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, "5", "left_square_bracket")
        left = await settled(pilot)
        at, subject = app.playback.at, app.subject
        first_page = (await turned(pilot, app, "eu"))[0]
        back = await turned(pilot, app, "us")

        assert "Locks" in first_page
        assert (app.playback.at, app.subject) == (at, subject)
        assert back[0] == left[0]


async def test_a_cluster_is_opened_once() -> None:
    """Its feed continues while another cluster is shown."""
    clusters = TwoClusters()
    app = clusters.app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        for name in ("eu", "us", "eu", "us"):
            await turned(pilot, app, name)

    assert clusters.opened == ["us", "eu"]


async def test_the_past_of_a_hidden_cluster_has_no_gap() -> None:
    """What its feed reports is kept, and shown after coming back."""
    clusters = TwoClusters()
    app = clusters.app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await turned(pilot, app, "eu")
        await turned(pilot, app, "us")
        later = frames((NOW, lock("/eu/quiet", "ann")), (NOW + 20_000, lock("/eu/new", "bob")))
        clusters.send_from_eu(later[-1])
        await settled(pilot)
        kept = app.visits["eu"].tape.last
        await turned(pilot, app, "eu")

        assert kept is later[-1]
        assert app.view_state.frame is kept


async def test_an_alert_of_a_hidden_cluster_names_it() -> None:
    """It is announced like an alert of the visible cluster."""
    clusters = TwoClusters()
    app = clusters.app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await turned(pilot, app, "eu")
        await turned(pilot, app, "us")
        clusters.send_from_eu(*trouble()[3:5])
        await settled(pilot)

        said = [one.message for one in app._notifications]
        assert any(one.startswith("eu: ORPHAN: ") for one in said)


async def test_playback_stops_in_a_hidden_cluster() -> None:
    """The moment on display stays the same."""
    app = TwoClusters().app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, "5", "left_square_bracket", "left_square_bracket", "space")
        was_playing = app.playback.is_playing
        await turned(pilot, app, "eu")
        await turned(pilot, app, "us")

        assert was_playing
        assert not app.playback.is_playing
        assert not app.view_state.is_newest


async def test_each_cluster_has_its_own_filter() -> None:
    """A filter does not follow to the next cluster."""
    app = TwoClusters().app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.set_filter("orders")
        await turned(pilot, app, "eu")
        there = app.visit.filter_text
        await turned(pilot, app, "us")

        assert (there, app.visit.filter_text) == ("", "orders")


async def test_permission_to_write_stays_with_its_cluster() -> None:
    """Each cluster has its own contenders."""
    clusters = TwoClusters()
    app = clusters.app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await turned(pilot, app, "eu")

        assert app.contenders is clusters.eu.contenders


async def test_the_list_has_a_line_for_each_cluster() -> None:
    """Its state, how many locks it has, and its worst problem."""
    app = TwoClusters().app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, "at")
        lines = await settled(pilot)
        us = next(line for line in lines if "▸ us" in line)
        eu = next(line for line in lines if " eu " in line)

    assert ["LIVE" in us, " DEADLOCK? " in us, "not visited" in eu] == [True] * 3


async def test_the_list_is_up_to_date() -> None:
    """A connection that is lost while the list is open is shown as lost."""
    clusters = TwoClusters()
    app = clusters.app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await turned(pilot, app, "eu")
        await turned(pilot, app, "us")
        await pressed(pilot, "at")
        clusters.send_from_eu(Status("lost", "Connection lost."))

        listed = app.screen.query_one("#options", TextList)

        def is_lost() -> bool:
            return "LOST" in text_of(listed.draw(1, 100))

        await until(pilot, is_lost, "eu to be shown as lost")


async def test_enter_shows_the_chosen_cluster() -> None:
    """The cursor begins on the one that is shown."""
    app = TwoClusters().app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, "at")
        assert isinstance(app.screen, ClusterDialog)
        await pressed(pilot, "down", "enter")
        lines = await settled(pilot)

        assert "zktop  eu" in lines[0]


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_without_other_clusters_it_says_where_they_come_from(size: tuple[int, int]) -> None:
    """The key is not silent."""
    app = Zktop(FakeFeed(*trouble()))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await pressed(pilot, "at")
        await settled(pilot)

        said = [one.message for one in app._notifications]
        assert any(one.startswith("No other clusters.") for one in said)
