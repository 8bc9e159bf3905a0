"""The user's own keys: mistakes are reported before the UI starts; the others work."""

import re
from pathlib import Path

import pytest
from textual.content import Content
from textual.keys import format_key
from textual.widgets import Input
from ui.example_ensemble import trouble
from ui.fake_contenders import QUEUE
from ui.fake_contenders import FakeContenders as Stage
from ui.fake_feed import FakeFeed, app_of, settled

from zktop.app.ui_settings import ui_settings
from zktop.config.join_sources import EffectiveConfig, effective_config
from zktop.config.mistakes import ConfigError
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.tree import ValueOrigin
from zktop.demo_types.scene_moves import SceneProgress
from zktop.ui.app import Zktop
from zktop.ui.keys import (
    KEYS,
    clashes,
    key_label,
    key_mistakes,
    known_on,
    textual_key,
    with_user_keys,
)
from zktop.ui.screens import PAGES
from zktop.ui.settings import UiSettings
from zktop.ui.widgets.panel import Panel
from zktop.ui.widgets.text_view import TextView


def test_the_words_of_a_key_fit_a_line_of_the_palette() -> None:
    """A longer text is cut there."""
    assert [action.id for action in KEYS if len(action.help) > 80] == []


def test_our_own_keys_do_not_clash() -> None:
    """No key runs two actions in one place."""
    assert list(clashes(KEYS, frozenset())) == []


def test_every_id_is_there_once() -> None:
    """The settings name actions by it."""
    assert len({key.id for key in KEYS}) == len(KEYS)


def test_keys_that_write_are_capital_letters() -> None:
    """A typing error writes nothing; the keys of a scene only work on screen 6."""
    writing = [key for key in KEYS if key.writes and key.pages != ("demo",)]

    assert writing
    assert all(len(key.keys) == 1 and key.keys.isupper() for key in writing)


def settings(tmp_path: Path, text: str) -> EffectiveConfig:
    """The settings of a config file."""
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8")
    given = Override("config", (str(file),), ValueOrigin(COMMAND_LINE))
    return effective_config(Overrides(file=given), {})


NO_KEY = '"NotAKey" is not a key; use a letter, or a name like f2, space or ctrl+k'


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """Each with the file, its line, its key, and what to do."""
    made = settings(
        tmp_path,
        """ui:
  keys:
    qiut: Q
    export: NotAKey
    copy: n
    record: "  , "
    sort: ctrl+A
    pause: ctrl+c
  command: "notify 'open"
""",
    )
    with pytest.raises(ConfigError) as error:
        ui_settings(made, {})
    found = [
        line.removeprefix(f"{tmp_path}/config.yaml:") for line in str(error.value).split("\n")
    ]

    assert found == [
        "3: ui.keys.qiut: there is no such action (did you mean quit?)",
        f"4: ui.keys.export: {NO_KEY}",
        "5: ui.keys.copy: n is also the key of next_alert (next alert)",
        "6: ui.keys.record: names no key",
        "7: ui.keys.sort: write ctrl+shift+a for ctrl+A",
        "8: ui.keys.pause: ctrl+c always quits",
        "9: ui.command: is not a command: no closing quotation",
    ]


def test_mistakes_in_commands_are_reported_with_the_others(tmp_path: Path) -> None:
    """Their keys must be free, and their fields must be known; one mistake hides no other."""
    made = settings(
        tmp_path,
        """commands:
  - { key: y, title: a, run: "cat {path}" }
  - { key: q, title: b, run: "cat {hots}" }
  - { key: f6, title: c, run: "cat 'open" }
  - { key: f7, title: d, run: "cat {host}", on: lock }
  - { key: f8, title: Log, run: "cat" }
  - { key: f8, title: e, run: "cat" }
""",
    )
    with pytest.raises(ConfigError) as error:
        ui_settings(made, {})
    found = [
        line.removeprefix(f"{tmp_path}/config.yaml:") for line in str(error.value).split("\n")
    ]

    assert sorted(found) == [
        "2: commands[0].key: y is also the key of copy (copy the selected item as text)",
        "3: commands[1].key: q is also the key of quit (quit)",
        "3: commands[1].run: there is no {hots} of a session (did you mean host?)",
        "4: commands[2].run: is not a command: no closing quotation",
        "5: commands[3].run: there is no {host} of a lock (known: path, node)",
        "7: commands[5].key: f8 is also the key of Log",
    ]


RIGHT = [
    {"quit": "Q"},
    {"quit": "q,ctrl+c"},
    {"export": "y", "copy": "x"},  # swapped
    {"help": "?"},
    {"filter": "/, ctrl+f3"},
    {"page_1": "F2"},
    {"fold": "x"},  # there it comes before what is known everywhere
]
WRONG = [
    {"export": "y"},
    {"export": "f2", "copy": "f2"},
    {"play": "t"},  # both on the timeline alone
    {"new_reader": "W"},
    {"help": "ctr+k"},
    {"help": "shift+a"},
    {"help": "ctrl+z"},
    {"help": ""},
]


@pytest.mark.parametrize("keys", RIGHT, ids=str)
def test_a_possible_keymap_is_allowed(keys: dict[str, str]) -> None:
    """Two actions may share a key if they work on different pages."""
    assert list(key_mistakes(keys)) == []


@pytest.mark.parametrize("keys", WRONG, ids=str)
def test_a_keymap_that_would_lose_a_key_is_refused(keys: dict[str, str]) -> None:
    """Textual silently drops one of two actions, and accepts any word as a key."""
    assert len(list(key_mistakes(keys))) == 1


def test_names_of_keys_are_what_terminals_send() -> None:
    """Users write `?`, Textual `question_mark`."""
    assert [textual_key(name) for name in ("?", "/", "+", "ctrl+K", "F2", "é")] == [
        "question_mark",
        "slash",
        "plus",
        "ctrl+K",
        "f2",
        "é",
    ]
    assert all(key_label(name) for key in KEYS for name in key.names)
    assert key_label("slash") == format_key("slash") == "/"


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_a_key_is_listed_for_one_action_of_a_page(entry: object) -> None:
    """A key that a page hides is not listed there."""
    names = [name for key in known_on(entry.name) for name in key.names]

    assert len(names) == len(set(names))


async def test_a_new_key_works_and_the_old_one_does_not() -> None:
    """The footer shows the new one."""
    keys = {"help": "f5"}
    app = app_of(table=with_user_keys(keys), changed_keys=frozenset(keys))
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)
        await pilot.press("question_mark")
        await settled(pilot)
        before = len(app.screen_stack)
        await pilot.press("f5")
        await settled(pilot)

        assert "f5 Help" in lines[-1]
        assert (before, len(app.screen_stack)) == (1, 2)


async def test_swapped_keys_do_what_the_other_one_did() -> None:
    """The clash is only on the way."""
    keys = {"page_2": "3", "page_3": "2"}
    app = app_of(table=with_user_keys(keys), changed_keys=frozenset(keys))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("3")
        await settled(pilot)

        assert app.page
        assert app.page.entry.name == "lock"


async def test_dialogs_are_moved_in_by_the_same_keys() -> None:
    """The old key no longer works there either; a printable key types its character."""
    keys = {"down": "f5,w"}
    look = UiSettings(table=with_user_keys(keys), changed_keys=frozenset(keys))
    app = Zktop(FakeFeed(*trouble()), Stage(), settings=look)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("S")
        await settled(pilot)
        chosen = [app.screen.chosen]
        for key in ("f5", "down"):
            await pilot.press(key)
            chosen.append(app.screen.chosen)
        await pilot.press("w")

        assert chosen == ["queue", "ab-ba", "ab-ba"]
        assert app.screen.query_one(Input).value == "w"


async def test_letters_move_in_a_dialog_where_nothing_is_typed() -> None:
    """As they do on every screen."""
    app = app_of(*trouble(), page="timeline")
    async with app.run_test(size=(36, 7)) as pilot:
        await settled(pilot)
        await pilot.press("left", "left", "left", "c")
        await settled(pilot)
        sheet = app.screen.query_one(TextView)
        before = sheet.scroll_offset.y
        await pilot.press("j", "j")
        await settled(pilot)
        after = sheet.scroll_offset.y
        await pilot.press("g")
        await settled(pilot)

        assert (before, sheet.scroll_offset.y) == (0, 0)
        assert after > 0


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_quits(key: str) -> None:
    """By any of its keys."""
    app = app_of()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(key)
        await pilot.pause()

    assert app.return_code == 0


@pytest.mark.parametrize("open_key", ["question_mark", "x", "colon", "slash", "N"])
async def test_ctrl_c_quits_from_every_dialog(open_key: str) -> None:
    """Every dialog can be left this way."""
    app = app_of()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(open_key)
        await settled(pilot)
        await pilot.press("ctrl+c")
        await pilot.pause()

    assert app.return_code == 0


async def test_ctrl_c_quits_even_when_quit_has_another_key() -> None:
    """There is always a way out."""
    keys = {"quit": "Q"}
    app = app_of(table=with_user_keys(keys), changed_keys=frozenset(keys))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("q")
        await settled(pilot)
        assert app.return_code is None
        await pilot.press("ctrl+c")
        await pilot.pause()

    assert app.return_code == 0


MOVED = tuple(key._replace(keys=f"f{number}") for number, key in enumerate(KEYS, 101))
A_MOVED_KEY = re.compile(r"f1\d\d")


@pytest.mark.parametrize("page", [one.name for one in PAGES])
async def test_frames_name_the_users_keys(page: str) -> None:
    """Each hint at the bottom of a pane begins with one."""
    stage = Stage(progress=SceneProgress(QUEUE, "/zktop-demo/x"))
    app = Zktop(FakeFeed(*trouble()), stage, settings=UiSettings(page=page, table=MOVED))
    async with app.run_test(size=(180, 60)) as pilot:
        await settled(pilot)
        panels = [one for one in app.query("*") if isinstance(one, Panel)]
        frames = [Content.from_markup(one.border_subtitle or "") for one in panels]
        hints = [hint for frame in frames if frame for hint in frame.plain.split("  ")]

    assert hints
    assert [hint for hint in hints if not A_MOVED_KEY.match(hint)] == []


@pytest.mark.parametrize(
    ("page", "action", "said"),
    [
        ("timeline", "act('play')", "Go back with {step_back} or {seek}, then press {play} to"),
        ("locks", "act('record')", "Press {record} to stop."),
        ("demo", "act('kill')", "No demo client here. Press {new} to start one."),
        ("timeline", "act('mark')", ": {compare} compares, {export} exports from here."),
    ],
)
async def test_messages_name_the_users_keys(
    page: str, action: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old key may do something else."""
    monkeypatch.chdir(tmp_path)
    keys = {key.id: key.keys for key in MOVED}
    (quiet, *_) = trouble()
    app = Zktop(FakeFeed(quiet), Stage(), settings=UiSettings(page=page, table=MOVED))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await app.run_action(action)
        await settled(pilot)

        assert any(said.format(**keys) in one.message for one in app._notifications)


async def test_a_recording_names_the_users_keys_for_a_comparison() -> None:
    """It has no newest moment to compare with."""
    keys = {key.id: key.keys for key in MOVED}
    feed = FakeFeed(*trouble(), is_live=False)
    app = Zktop(feed, settings=UiSettings(page="timeline", table=MOVED))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await app.run_action("act('compare')")
        await settled(pilot)
        said = [one.message for one in app._notifications]

    way = "Mark a moment with {mark}, go to another one, then compare them with {compare}."
    assert said[-1] == way.format(**keys)


async def test_sentences_name_the_users_keys() -> None:
    """About an empty list, and about a new alert."""
    app = Zktop(FakeFeed(*trouble()), Stage(), settings=UiSettings(table=MOVED))
    keys = {key.id: key.keys for key in MOVED}
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.set_filter("nothing like it")
        filtered = "\n".join(await settled(pilot))
        app.set_filter("")
        await app.run_action("act('tree')")
        tree = "\n".join(await settled(pilot))

    assert f"{keys['filter']} edits it." in filtered
    assert f"{keys['tree']} locks by path" in tree
