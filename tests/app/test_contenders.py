"""Contenders and scenes as the UI asks for them: real processes on a real sandbox server."""

import threading
from collections.abc import Callable, Iterator

import pytest
from servers import RunningServer, sandbox_server

from zktop.app.contenders import Contenders
from zktop.config.types import Config, DemoSection
from zktop.errors import UsageError
from zktop.ui.ports import Hand, Wish

PATIENCE_S = 40.0


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """Our own server."""
    with sandbox_server() as server:
        yield server


class Audience:
    """Hears the troupe, and waits for what it shall come to."""

    def __init__(self, troupe: Contenders) -> None:
        self.troupe = troupe
        self.complaints: list[str] = []
        self._news = threading.Condition()
        troupe.listen(self._heard, self._complained)

    def until(self, condition: Callable[[Contenders], bool]) -> None:
        """Wait for a condition on the troupe."""
        with self._news:
            held = self._news.wait_for(lambda: condition(self.troupe), PATIENCE_S)

        assert held, (self.troupe.hands, self.troupe.showing, self.complaints)

    def _heard(self) -> None:
        with self._news:
            self._news.notify_all()

    def _complained(self, sentence: str) -> None:
        self.complaints.append(sentence)
        self._heard()


@pytest.fixture
def audience(server: RunningServer) -> Iterator[Audience]:
    """A troupe with somebody who listens."""
    troupe = Contenders(Config(), server.address)
    yield Audience(troupe)
    troupe.close()


def states(troupe: Contenders) -> list[str]:
    """How everybody stands."""
    return [hand.state for hand in troupe.hands]


def hand(troupe: Contenders, state: str) -> Hand:
    """The first contender in this state."""
    return next(one for one in troupe.hands if one.state == state)


def test_contenders_hold_and_wait(audience: Audience) -> None:
    """Two of one recipe on one path: one has it, the other waits."""
    audience.troupe.spawn(Wish("predecessor", "/zktop-demo/two", count=2))

    audience.until(lambda troupe: sorted(states(troupe)) == ["holds", "waits"])

    assert {one.path for one in audience.troupe.hands} == {"/zktop-demo/two"}
    assert {one.session for one in audience.troupe.hands} == {*audience.troupe.sessions}


def test_a_released_lock_goes_to_the_next(audience: Audience) -> None:
    """Release does what it says, and who held it ends."""
    audience.troupe.spawn(Wish("kazoo-lock", "/zktop-demo/next", count=2))
    audience.until(lambda troupe: sorted(states(troupe)) == ["holds", "waits"])
    first = hand(audience.troupe, "holds").name
    second = hand(audience.troupe, "waits").name

    audience.troupe.act("release", first)

    audience.until(lambda troupe: any(one.name == first and one.is_gone for one in troupe.hands))
    audience.until(
        lambda troupe: [one.name for one in troupe.hands if one.state == "holds"] == [second]
    )


def test_killed_and_frozen_contenders_are_told_apart(audience: Audience) -> None:
    """A frozen one may be thawed; a killed one is gone, by its signal."""
    audience.troupe.spawn(Wish("single-node", "/zktop-demo/one"))
    audience.until(lambda troupe: states(troupe) == ["holds"])
    name = audience.troupe.hands[0].name

    audience.troupe.act("freeze", name)
    audience.until(lambda troupe: states(troupe) == ["frozen"])
    audience.troupe.act("thaw", name)
    audience.until(lambda troupe: states(troupe) == ["holds"])
    audience.troupe.act("kill", name)
    audience.until(lambda troupe: states(troupe) == ["killed by signal 9"])


def test_asks_nothing_on_a_server_of_its_own(audience: Audience) -> None:
    """Whatever is in there, zktop has made it."""
    audience.troupe.spawn(Wish("poll", "/app/lock"))

    audience.until(lambda troupe: states(troupe) == ["holds"])


@pytest.fixture
def guest(server: RunningServer) -> Iterator[Audience]:
    """A troupe on an ensemble that was named, where nobody has allowed anything."""
    troupe = Contenders(Config(hosts=server.address))
    yield Audience(troupe)
    troupe.close()


WRITES: dict[str, Callable[[Contenders], None]] = {
    "spawn": lambda troupe: troupe.spawn(Wish("poll", "/zktop-demo/lock")),
    "put on": lambda troupe: troupe.put_on("ab-ba"),
    "put on, paused": lambda troupe: troupe.put_on("ab-ba", paused=True),
    "steer": lambda troupe: troupe.steer("play"),
    "act": lambda troupe: troupe.act("release", "ann"),
}


@pytest.mark.parametrize("write", WRITES)
def test_starts_nothing_without_permission(guest: Audience, write: str) -> None:
    """No process and no thread, whoever asks for it, whichever way."""
    threads = threading.active_count()

    with pytest.raises(UsageError, match="until somebody allows it"):
        WRITES[write](guest.troupe)

    assert threading.active_count() == threads
    assert states(guest.troupe) == []


@pytest.mark.parametrize("typed", ["", "y", "dem", "Demo", " demo", "demo ", "demo\n"])
def test_only_the_word_is_permission(guest: Audience, typed: str) -> None:
    """Letter by letter."""
    assert not guest.troupe.permission.give(typed)

    with pytest.raises(UsageError):
        guest.troupe.spawn(Wish("poll", "/zktop-demo/lock"))


def test_with_the_word_it_starts_what_is_below_the_demo_root(guest: Audience) -> None:
    """And takes it down again."""
    assert guest.troupe.permission.give("demo")

    guest.troupe.spawn(Wish("poll", "/zktop-demo/allowed"))
    guest.until(lambda troupe: states(troupe) == ["holds"])


@pytest.mark.parametrize("typed", [None, "", "demo", "app", "/app/leader"])
def test_a_lock_elsewhere_needs_its_own_word(guest: Audience, typed: str | None) -> None:
    """The word for the session is not enough, and one answer is for one contender."""
    guest.troupe.permission.give("demo")

    with pytest.raises(UsageError, match="unless its name is typed: leader"):
        guest.troupe.spawn(Wish("poll", "/app/leader"), typed)

    guest.troupe.spawn(Wish("poll", "/app/leader"), "leader")
    guest.until(lambda troupe: states(troupe) == ["holds"])
    with pytest.raises(UsageError):
        guest.troupe.spawn(Wish("poll", "/app/leader"))


def test_where_the_config_says_never_no_word_helps(server: RunningServer) -> None:
    """Not even the right one."""
    troupe = Contenders(Config(hosts=server.address, demo=DemoSection(allow="never")))

    assert not troupe.permission.give("demo")
    with pytest.raises(UsageError):
        troupe.spawn(Wish("poll", "/zktop-demo/lock"))


def test_where_the_config_says_always_only_locks_elsewhere_need_a_word(
    server: RunningServer,
) -> None:
    """It is permission for the demo root alone."""
    troupe = Contenders(Config(hosts=server.address, demo=DemoSection(allow="always")))

    assert troupe.permission.is_given
    assert troupe.permission.word_for("/zktop-demo/lock") is None
    assert troupe.permission.word_for("/zktop-demolition/lock") == "lock"


def test_complains_about_who_is_not_there(audience: Audience) -> None:
    """Who acts on nobody is told so."""
    audience.troupe.act("kill", "nobody")

    audience.until(lambda _troupe: bool(audience.complaints))


def test_plays_a_scene_to_its_end_and_takes_it_down(audience: Audience) -> None:
    """Its moves are counted, its narration is heard, and nobody is left after it."""
    audience.troupe.put_on("ab-ba")
    audience.until(lambda troupe: troupe.showing.phase == "over")

    assert audience.troupe.showing.scene
    assert audience.troupe.showing.played == len(audience.troupe.showing.scene.moves)
    assert any(one.says.startswith("[4/4]") for one in audience.troupe.said(100))

    audience.troupe.steer("stop")
    audience.until(lambda troupe: troupe.showing.phase == "empty")
    audience.until(lambda troupe: all(one.is_gone for one in troupe.hands))


def test_steps_through_a_scene(audience: Audience) -> None:
    """Put on paused, it moves only when it is told to."""
    audience.troupe.put_on("queue", paused=True)
    audience.until(lambda troupe: troupe.showing.phase == "paused")
    audience.troupe.steer("step")

    audience.until(lambda troupe: troupe.showing.played == 1)

    assert audience.troupe.showing.phase == "paused"


def test_knows_a_recipe_for_the_locks_of_others(audience: Audience) -> None:
    """Who joins a lock has to play by its clients' rules."""
    troupe = audience.troupe

    assert troupe.recipe_for("kazoo-lock", "exclusive") == ("kazoo-lock", "exclusive")
    assert troupe.recipe_for("kazoo-lock", "read") == ("kazoo-rw", "read")
    assert troupe.recipe_for("rw-host", "exclusive") == ("rw-host", "write")
    assert troupe.recipe_for("plain-lock", "read") is None
    assert troupe.recipe_for("curator-mutex", "exclusive") is None
