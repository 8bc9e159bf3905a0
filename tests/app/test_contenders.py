"""Contenders and scenes as the UI asks for them: real processes on a real sandbox server."""

import threading
from collections.abc import Callable, Iterator

import pytest
from servers import RunningServer, sandbox_server

from zktop.app.contenders import Contenders
from zktop.config.keys_and_defaults import Config, DemoSection
from zktop.demo_types.contender_order import ContenderOrder, LockClaim
from zktop.demo_types.contender_state import ContenderState
from zktop.errors import UsageError

PATIENCE_S = 40.0


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """Our own server."""
    with sandbox_server() as server:
        yield server


class Audience:
    """Hears the contenders, and waits for what it shall come to."""

    def __init__(self, contenders: Contenders) -> None:
        self.contenders = contenders
        self.complaints: list[str] = []
        self._news = threading.Condition()
        contenders.listen(self._heard, self._complained)

    def until(self, condition: Callable[[Contenders], bool]) -> None:
        """Wait for a condition on the contenders."""
        with self._news:
            held = self._news.wait_for(lambda: condition(self.contenders), PATIENCE_S)

        assert held, (self.contenders.states, self.contenders.progress, self.complaints)

    def _heard(self) -> None:
        with self._news:
            self._news.notify_all()

    def _complained(self, sentence: str) -> None:
        self.complaints.append(sentence)
        self._heard()


@pytest.fixture
def audience(server: RunningServer) -> Iterator[Audience]:
    """Contenders on a sandbox, with a listener."""
    contenders = Contenders(Config(), server.address)
    yield Audience(contenders)
    contenders.close()


def order_of(recipe: str, path: str) -> ContenderOrder:
    """An order for one lock, as a dialog makes it."""
    return ContenderOrder(recipe, (LockClaim(recipe, path),))


def states(contenders: Contenders) -> list[str]:
    """The states of all contenders."""
    return [state.state for state in contenders.states]


def contender(contenders: Contenders, state: str) -> ContenderState:
    """The first contender in this state."""
    return next(one for one in contenders.states if one.state == state)


def test_contenders_hold_and_wait(audience: Audience) -> None:
    """Two of one recipe on one path: one has it, the other waits."""
    for _ in range(2):
        audience.contenders.start(order_of("predecessor", "/zktop-demo/two"))

    audience.until(lambda contenders: sorted(states(contenders)) == ["holds", "waits"])

    assert {state.path for state in audience.contenders.states} == {"/zktop-demo/two"}
    assert {state.session for state in audience.contenders.states} == {
        *audience.contenders.sessions
    }


def test_a_released_lock_goes_to_the_next(audience: Audience) -> None:
    """The lock is released, and the contender that held it ends."""
    for _ in range(2):
        audience.contenders.start(order_of("kazoo-lock", "/zktop-demo/next"))
    audience.until(lambda contenders: sorted(states(contenders)) == ["holds", "waits"])
    first = contender(audience.contenders, "holds").name
    second = contender(audience.contenders, "waits").name

    audience.contenders.act("release", first)

    audience.until(
        lambda contenders: any(
            state.name == first and state.is_gone for state in contenders.states
        )
    )
    audience.until(
        lambda contenders: (
            [state.name for state in contenders.states if state.state == "holds"] == [second]
        )
    )


def test_killed_and_frozen_contenders_are_told_apart(audience: Audience) -> None:
    """A frozen one may be thawed; a killed one is gone, by its signal."""
    audience.contenders.start(order_of("single-node", "/zktop-demo/one"))
    audience.until(lambda contenders: states(contenders) == ["holds"])
    name = audience.contenders.states[0].name

    audience.contenders.act("freeze", name)
    audience.until(lambda contenders: states(contenders) == ["frozen"])
    audience.contenders.act("thaw", name)
    audience.until(lambda contenders: states(contenders) == ["holds"])
    audience.contenders.act("kill", name)
    audience.until(lambda contenders: states(contenders) == ["killed by signal 9"])


def test_asks_nothing_on_a_server_of_its_own(audience: Audience) -> None:
    """Whatever is in there, zktop has made it."""
    audience.contenders.start(order_of("poll", "/app/lock"))

    audience.until(lambda contenders: states(contenders) == ["holds"])


@pytest.fixture
def guest(server: RunningServer) -> Iterator[Audience]:
    """Contenders on an ensemble of the user, without permission to write."""
    contenders = Contenders(Config(hosts=server.address))
    yield Audience(contenders)
    contenders.close()


WRITES: dict[str, Callable[[Contenders], None]] = {
    "start": lambda contenders: contenders.start(order_of("poll", "/zktop-demo/lock")),
    "play": lambda contenders: contenders.play("ab-ba"),
    "load": lambda contenders: contenders.load("ab-ba"),
    "control": lambda contenders: contenders.control("play"),
    "act": lambda contenders: contenders.act("release", "ann"),
}


@pytest.mark.parametrize("write", WRITES)
def test_starts_nothing_without_permission(guest: Audience, write: str) -> None:
    """No process and no thread is started, whatever is called."""
    threads = threading.active_count()

    with pytest.raises(UsageError, match="is not allowed yet"):
        WRITES[write](guest.contenders)

    assert threading.active_count() == threads
    assert states(guest.contenders) == []


@pytest.mark.parametrize("typed", ["", "y", "dem", "Demo", " demo", "demo ", "demo\n"])
def test_only_the_word_is_permission(guest: Audience, typed: str) -> None:
    """Letter by letter."""
    assert not guest.contenders.permission.give(typed)

    with pytest.raises(UsageError):
        guest.contenders.start(order_of("poll", "/zktop-demo/lock"))


def test_with_the_word_it_starts_what_is_below_the_demo_root(guest: Audience) -> None:
    """And takes it down again."""
    assert guest.contenders.permission.give("demo")

    guest.contenders.start(order_of("poll", "/zktop-demo/allowed"))
    guest.until(lambda contenders: states(contenders) == ["holds"])


@pytest.mark.parametrize("typed", [None, "", "demo", "app", "/app/leader"])
def test_a_lock_elsewhere_needs_its_own_word(guest: Audience, typed: str | None) -> None:
    """The word for the session is not enough, and one answer is for one contender."""
    guest.contenders.permission.give("demo")

    with pytest.raises(UsageError, match="type its name: leader"):
        guest.contenders.start(order_of("poll", "/app/leader"), typed)

    guest.contenders.start(order_of("poll", "/app/leader"), "leader")
    guest.until(lambda contenders: states(contenders) == ["holds"])
    with pytest.raises(UsageError):
        guest.contenders.start(order_of("poll", "/app/leader"))


def test_where_the_config_says_never_no_word_helps(server: RunningServer) -> None:
    """Not even the right one."""
    contenders = Contenders(Config(hosts=server.address, demo=DemoSection(allow="never")))

    assert not contenders.permission.give("demo")
    with pytest.raises(UsageError):
        contenders.start(order_of("poll", "/zktop-demo/lock"))


def test_where_the_config_says_always_only_locks_elsewhere_need_a_word(
    server: RunningServer,
) -> None:
    """It is permission for the demo root alone."""
    contenders = Contenders(Config(hosts=server.address, demo=DemoSection(allow="always")))

    assert contenders.permission.is_given
    assert contenders.permission.word_for("/zktop-demo/lock") is None
    assert contenders.permission.word_for("/zktop-demolition/lock") == "lock"


def test_an_unknown_demo_client_is_a_complaint(audience: Audience) -> None:
    """An action on an unknown contender is a complaint."""
    audience.contenders.act("kill", "nobody")

    audience.until(lambda _contenders: bool(audience.complaints))


def test_plays_a_scene_to_its_end_and_takes_it_down(audience: Audience) -> None:
    """Its moves are counted, its narration is in the log, and no contender is left after it."""
    audience.contenders.play("ab-ba")
    audience.until(lambda contenders: contenders.progress.phase == "over")

    assert audience.contenders.progress.scene
    assert audience.contenders.progress.played == len(audience.contenders.progress.scene.moves)
    assert any(one.says.startswith("[4/4]") for one in audience.contenders.log(100))

    audience.contenders.control("stop")
    audience.until(lambda contenders: contenders.progress.phase == "empty")
    audience.until(lambda contenders: all(state.is_gone for state in contenders.states))


def test_steps_through_a_scene(audience: Audience) -> None:
    """Loaded and paused, it moves only on a command."""
    audience.contenders.load("queue")
    audience.until(lambda contenders: contenders.progress.phase == "paused")
    audience.contenders.control("step")

    audience.until(lambda contenders: contenders.progress.played == 1)

    assert audience.contenders.progress.phase == "paused"


def test_knows_a_recipe_for_the_locks_of_others(audience: Audience) -> None:
    """Who joins a lock has to play by its clients' rules."""
    contenders = audience.contenders

    assert contenders.recipe_for("kazoo-lock", "exclusive") == ("kazoo-lock", "exclusive")
    assert contenders.recipe_for("kazoo-lock", "read") == ("kazoo-rw", "read")
    assert contenders.recipe_for("rw-host", "exclusive") == ("rw-host", "write")
    assert contenders.recipe_for("plain-lock", "read") is None
    assert contenders.recipe_for("curator-mutex", "exclusive") is None


def test_ended_contenders_of_an_older_scene_leave_the_list(audience: Audience) -> None:
    """Those of the scene that is loaded stay in it, and so does one that the user started."""
    audience.contenders.start(order_of("poll", "/zktop-demo/own"))
    audience.until(lambda contenders: states(contenders) == ["holds"])
    audience.contenders.act("cancel", "poll-1")
    audience.contenders.play("time-out")
    audience.until(lambda contenders: contenders.progress.phase == "over")
    ended = {state.name for state in audience.contenders.states if state.is_gone}
    audience.contenders.load("queue")
    audience.until(lambda contenders: contenders.progress.phase == "paused")

    assert ended == {"poll-1", "bob"}
    assert [state.name for state in audience.contenders.states] == ["poll-1"]


def test_a_killed_contender_is_in_the_log(audience: Audience) -> None:
    """It cannot report its own end."""
    audience.contenders.start(order_of("poll", "/zktop-demo/killed"))
    audience.until(lambda contenders: states(contenders) == ["holds"])
    audience.contenders.act("kill", audience.contenders.states[0].name)

    audience.until(
        lambda contenders: any(one.says == "killed by signal 9" for one in contenders.log(9))
    )


def test_counts_what_a_release_in_a_scene_wakes(audience: Audience) -> None:
    """From the steps of the contenders; the next scene starts from nothing."""
    audience.contenders.play("work-fails")
    audience.until(lambda contenders: contenders.progress.phase == "over")
    (departure,) = audience.contenders.count.departures
    audience.contenders.load("queue")
    audience.until(lambda contenders: contenders.progress.phase == "paused")

    assert (departure.how, departure.woken, departure.went_on) == ("released", ("two",), ("two",))
    assert audience.contenders.count.departures == ()
