"""The user's commands: their words, and their keys in the UI."""

from collections.abc import Callable, Sequence

import pytest
from model.make_facts import NOW
from msgspec.structs import replace
from textual.pilot import Pilot
from ui.example_states import deadlock_frames
from ui.fake_feed import app_of, frames, settled

from zktop.ui.dialogs.program_output import OutputDialog
from zktop.ui.dialogs.question import YesNoDialog
from zktop.ui.keys import KEYS
from zktop.ui.styled_text import text_of
from zktop.ui.user_commands import CommandSubject, UserCommand, command_actions, values_for
from zktop.ui.view_state import Selection
from zktop.ui.widgets.text_view import LogView, TextView

DEADLOCK = deadlock_frames()[-1]
SESSION = UserCommand("f5", "Log of a client", ("log", "{host}", "-p{port}"), "session")


class Runs:
    """Remembers what was run, and answers with two lines."""

    def __init__(self) -> None:
        self.words: list[Sequence[str]] = []

    async def __call__(self, words: Sequence[str], on_line: Callable[[str], None]) -> str:
        """Say something, and end."""
        self.words.append(words)
        on_line("first")
        on_line("second")
        return "log ended with exit code 0."


def app_with(runs: Runs, *commands: UserCommand) -> object:
    """The UI with these commands, over an ensemble in trouble."""
    return app_of(
        *deadlock_frames(),
        table=(*KEYS, *command_actions(commands)),
        commands=commands,
        run_program=runs,
    )


async def shown(pilot: Pilot[int]) -> str:
    """The text of the dialog with the output."""
    await settled(pilot)
    view = pilot.app.screen.query_one(LogView)
    return "\n".join(text_of(view.draw(n, 100)) for n in range(view.count))


def test_a_value_never_becomes_an_option() -> None:
    """A znode may have any name, even one that looks like an option."""
    command = UserCommand("f5", "Show", ("cat", "{node}"), "lock")

    with pytest.raises(ValueError, match="would be read as an option"):
        command.filled({"path": "/a", "node": "-rf"})


def test_a_value_stays_one_word() -> None:
    """There is no shell: blanks and quotes are nothing special."""
    command = UserCommand("f5", "Show", ("cat", "{path}"), "lock")

    assert command.filled({"path": "/a; rm -rf ~", "node": ""}) == ("cat", "/a; rm -rf ~")


def test_a_value_that_looks_like_a_field_stays_as_it_is() -> None:
    """A znode may be named so."""
    command = UserCommand("f5", "Show", ("cat", "{path}/{node}"), "lock")

    assert command.filled({"path": "/a/{node}", "node": "{path}"}) == ("cat", "/a/{node}/{path}")


def test_without_the_value_nothing_runs() -> None:
    """`ssh` without a host would do something else."""
    with pytest.raises(ValueError, match="the host is not known here"):
        SESSION.filled({"host": "", "port": "", "session": "0x1", "path": "", "node": ""})


@pytest.mark.parametrize("on", ["session", "lock", "deadlock"])
def test_nothing_selected_gives_no_values(on: CommandSubject) -> None:
    """A message asks the user to select something first."""
    (frame,) = frames((NOW, ()))

    assert values_for(on, Selection(), frame.report) is None


def test_a_command_on_a_deadlock_is_about_the_client_to_stop() -> None:
    """The first way out: its session, its address, and the lock that it waits for."""
    dead = DEADLOCK.report.deadlocks[0]
    values = values_for("deadlock", Selection(case=dead.id), DEADLOCK.report)

    way = dead.ways_out[0]
    assert values is not None
    assert f"{values['host']}:{values['port']}" == way.client
    assert values["session"] == way.actor
    assert values["path"] in dead.locks


def test_a_deadlock_without_a_way_out_is_selected_nevertheless() -> None:
    """The message then names the field that is not known."""
    (dead,) = DEADLOCK.report.deadlocks
    stuck = replace(DEADLOCK.report, deadlocks=(replace(dead, ways_out=()),))
    values = values_for("deadlock", Selection(case=dead.id), stuck)

    assert values is not None
    with pytest.raises(ValueError, match="the host is not known here"):
        SESSION.filled(values)


def test_a_client_without_a_session_has_a_lock() -> None:
    """Where it is the one to stop."""
    (dead,) = DEADLOCK.report.deadlocks
    (way, *_), (step, *others) = dead.ways_out, dead.steps
    named = replace(
        dead,
        ways_out=(replace(way, actor="owner:zed"),),
        steps=(replace(step, actor="owner:zed"), *others),
    )
    report = replace(DEADLOCK.report, deadlocks=(named,))
    values = values_for("deadlock", Selection(case=dead.id), report)

    assert values is not None
    assert (values["session"], values["path"]) == ("", step.waits.lock)


async def test_enter_runs_what_was_shown() -> None:
    """First the command line, then its output and how it ended."""
    runs = Runs()
    app = app_with(runs, UserCommand("f5", "Show it", ("cat", "{path}"), "lock"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        path = app.selection.path
        await pilot.press("f5")
        await settled(pilot)
        asked = isinstance(app.screen, YesNoDialog), list(runs.words)
        await pilot.press("enter")
        text = await shown(pilot)

    assert asked == (True, [])
    assert runs.words == [("cat", path)]
    assert text.splitlines() == [f"cat {path}", "first", "second", "log ended with exit code 0."]


async def test_escape_runs_nothing() -> None:
    """The dialog closes, and that is all."""
    runs = Runs()
    app = app_with(runs, UserCommand("f5", "Show it", ("cat", "{path}"), "lock"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("f5")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)

        assert len(app.screen_stack) == 1
    assert runs.words == []


async def test_a_command_that_asks_nothing_runs_at_once() -> None:
    """With `confirm: false`."""
    runs = Runs()
    command = UserCommand("f5", "Show it", ("cat", "{path}"), "lock", confirms=False)
    app = app_with(runs, command)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("f5")
        await settled(pilot)

        assert isinstance(app.screen, OutputDialog)
    assert len(runs.words) == 1


async def test_the_help_lists_the_command() -> None:
    """It is under the heading of the user's commands."""
    app = app_with(Runs(), UserCommand("f5", "Show it", ("cat", "{path}"), "lock"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark", *"show it")
        await settled(pilot)
        view = app.screen.query_one("#text", TextView)
        text = "\n".join(text_of(view.draw(n, 100)) for n in range(view.count))

    assert "Your own commands" in text
    assert "f5" in text


def test_a_node_of_another_lock_is_no_value() -> None:
    """The user selected a node, and then another lock: there is no such node in it."""
    report = DEADLOCK.report
    selected = Selection(path="/locks/orders", node="lock-01", session=0xA)
    newer = selected.updated(Selection(path="/locks/import"))

    assert values_for("lock", newer, report) == {"path": "/locks/import", "node": ""}


def test_a_node_stays_selected_while_its_lock_is() -> None:
    """Screen 1 knows no nodes; it selects the same lock again."""
    selected = Selection(path="/locks/orders", node="lock-01")
    newer = selected.updated(Selection(path="/locks/orders"))

    assert values_for("lock", newer, DEADLOCK.report) == {
        "path": "/locks/orders",
        "node": "lock-01",
    }


def test_a_node_stays_selected_while_a_finding_is_looked_at() -> None:
    """Screen 3 always selects a finding, and the cursor of screen 2 must not move."""
    selected = Selection(path="/locks/orders", node="lock-01", session=0xA)

    assert selected.updated(Selection(case="D1")) == selected._replace(case="D1")
