"""Themes: their files, their contrast, and the dialog that previews them."""

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages

import pytest
from msgspec.structs import replace
from rich.style import Style
from textual.color import Color
from textual.dom import DOMNode
from textual.theme import Theme as TextualTheme
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, painted, settled

import zktop.ui
from zktop.app.ui_settings import textual_theme, theme_list
from zktop.config.mistakes import ConfigError
from zktop.config.theme_files import all_themes, theme_named
from zktop.ui.inks import INKS
from zktop.ui.themes import NamedTheme, ThemeList, apply_theme
from zktop.ui.widgets.ink_styles import InkStyles, Light, RunStyles

NAMES = (
    "zktop-contrast",
    "zktop-dark",
    "zktop-gruvbox",
    "zktop-light",
    "zktop-night",
    "zktop-nord",
    "zktop-plain",
    "zktop-safe",
    "zktop-solarized",
)
LOOKS = (*INKS, "cursor")
RGB = [one for one in all_themes({}, LOOKS).usable if not one.ansi]
GROUNDS = ("background", "surface", "panel")


def test_there_are_nine() -> None:
    """Five dark, one light, and one each for high contrast, colour blindness and 16 colours."""
    found = all_themes({"XDG_CONFIG_HOME": "/nowhere"}, LOOKS)

    assert tuple(one.name for one in found.usable) == NAMES
    assert found.mistakes == ()
    assert all(one.about for one in found.usable)


def test_every_rule_of_the_style_sheets_names_a_widget() -> None:
    """A rule for a class that was renamed styles nothing."""
    for module in walk_packages(zktop.ui.__path__, "zktop.ui."):
        import_module(module.name)
    classes = {one.__name__: one for one in _below(DOMNode)}
    ours = [one for one in classes.values() if one.__module__.startswith("zktop.")]
    named = {
        name
        for one in ours
        for selectors in re.findall(r"([^{}]+)\{", str(vars(one).get("DEFAULT_CSS", "")))
        for name in re.findall(r"(?<![\w$#.:-])[A-Z]\w+", selectors)
    }

    assert len(named) > 20
    assert named <= classes.keys()


def _below(parent: type) -> Iterator[type]:
    for one in parent.__subclasses__():
        yield one
        yield from _below(one)


@pytest.mark.parametrize(
    ("theme", "ink"), list(product(RGB, INKS)), ids=lambda one: getattr(one, "name", one)
)
def test_every_ink_can_be_read_on_every_ground(theme: object, ink: str) -> None:
    """A contrast of 4.5 to 1, and 3 to 1 for what is less important."""
    variables = _variables(textual_theme(theme).theme)
    palette = InkStyles(variables)
    least = 3.0 if ink == "dim" else 4.5
    style = palette.style(ink)
    fields = {ground: _contrast(style, Color.parse(variables[ground])) for ground in GROUNDS}
    cursor = Color.from_rich_color(palette.cursor.bgcolor)

    assert {ground: ratio for ground, ratio in fields.items() if ratio < least} == {}
    assert _contrast(style, cursor) >= 3.0


@pytest.mark.parametrize("light", ["cursor", "hover"])
async def test_a_pill_keeps_its_colours_under_the_cursor(light: Light) -> None:
    """It is reversed, so the ground of the line would be the colour of its text."""
    app = app_of(*trouble())
    async with app.run_test() as pilot:
        await settled(pilot)
        styles = RunStyles(app.screen)

        assert styles["alarm", None, light] == styles["alarm", None, ""]
        assert styles["critical", None, light] != styles["critical", None, ""]


@pytest.mark.parametrize("surface", ["", 'surface: "#ffffff"'])
def test_the_cursor_of_a_light_theme_of_the_user_can_be_seen(surface: str, tmp_path: Path) -> None:
    """It is darker than the ground; no colour is lighter than white."""
    folder = tmp_path / "zktop" / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(f'name: mine\nprimary: "#0055aa"\ndark: false\n{surface}\n')
    theme = theme_named("mine", {"XDG_CONFIG_HOME": str(tmp_path)}, LOOKS)
    variables = _variables(textual_theme(theme).theme)
    cursor = Color.from_rich_color(InkStyles(variables).cursor.bgcolor)

    assert _light(cursor) < _light(Color.parse(variables["surface"])) - 0.1


def _variables(theme: TextualTheme) -> dict[str, str]:
    return {**theme.to_color_system().generate(), **theme.variables}


def _contrast(style: Style, ground: Color) -> float:
    colour = Color.from_rich_color(style.color)
    if style.dim:
        colour = ground.blend(colour, 0.5)
    light, dark = sorted((_light(colour), _light(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _light(colour: Color) -> float:
    """Relative luminance, as the web's accessibility rules have it."""
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_three_digits_are_a_colour() -> None:
    """As a theme may have them."""
    palette = InkStyles({"ink-holds": "bold #0f8 on #123"})

    assert palette.style("holds") == Style.parse("bold #00ff88 on #112233")


def test_the_plain_theme_has_the_terminals_own_colours_alone() -> None:
    """No RGB colour in any ink."""
    palette = InkStyles(_variables(textual_theme(theme_named("zktop-plain", {}, LOOKS)).theme))

    colours = [palette.style(ink).color for ink in INKS]

    assert all(one is None or one.is_system_defined for one in colours)
    assert len(set(colours)) > 4


MISTAKES = [
    ('primry: "#fff"', "1: primry: unknown key (did you mean primary?)"),
    ('primary: "#ggg"', '1: primary: expected a colour like "#5fafd7" or ansi_red, got "#ggg"'),
    ("primary: 12", "1: primary: expected text, got a number (put it in quotes)"),
    ('dark: "no"', "1: dark: expected true or false, got text"),
    ("primary: ansi_red", '1: primary: must be a colour like #5fafd7, got "ansi_red"'),
    ('primary: "#fff"\ninks: { hold: bold }', "2: inks.hold: unknown ink (did you mean holds?)"),
    (
        'primary: "#fff"\ninks: { holds: blod }',
        '2: inks.holds: has an unknown word "blod" (did you mean bold?)',
    ),
    (
        'primary: "#fff"\ninks: { holds: $eror }',
        '2: inks.holds: there is no colour "$eror" (did you mean $error?)',
    ),
    ("name: other", '1: name: must be mine, like the file, got "other"'),
    ("primary: [", "is not valid YAML"),
    ("- a", "expected a mapping (key: value), got a list"),
    ("", "the key primary is missing"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=[said[:30] for _, said in MISTAKES])
def test_a_mistake_in_a_file_is_shown_with_its_name_and_key(
    text: str, said: str, tmp_path: Path
) -> None:
    """After a mistake the UI and the other themes still work."""
    folder = tmp_path / "zktop" / "themes"
    folder.mkdir(parents=True)
    more = "" if "name:" in text or text in ("- a", "") else "\nname: mine"
    more += '\nprimary: "#fff"' if text.startswith("name:") else ""
    (folder / "mine.yaml").write_text(text + more, encoding="utf-8")
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    with pytest.raises(ConfigError) as error:
        theme_named("mine", environment, LOOKS)

    assert f"{folder}/mine.yaml:" in str(error.value)
    assert said in str(error.value)
    assert [one.theme.name for one in theme_list(environment).designs] == list(NAMES)


def test_a_users_theme_replaces_a_built_in_one(tmp_path: Path) -> None:
    """A user's theme replaces a built-in one of the same name."""
    folder = tmp_path / "zktop" / "themes"
    folder.mkdir(parents=True)
    (folder / "zktop-dark.yaml").write_text('name: zktop-dark\nprimary: "#123456"')
    theme = theme_named("zktop-dark", {"XDG_CONFIG_HOME": str(tmp_path)}, LOOKS)

    assert theme.primary == "#123456"


async def test_the_cursor_tries_a_theme_on_and_escape_puts_the_old_one_back() -> None:
    """Without Enter nothing is changed."""
    app = _dressed()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("T")
        await settled(pilot)
        await pilot.press("down")
        await settled(pilot)
        worn = app.theme
        await pilot.press("escape")
        await settled(pilot)

        assert (worn, app.theme) == ("zktop-gruvbox", "zktop-dark")


async def test_a_theme_whose_file_is_wrong_now_stays() -> None:
    """It is the first one of the list, as it was before; escape returns to it."""
    app = _dressed()
    others = app.settings.themes().designs[2:]
    app.settings = replace(app.settings, themes=lambda: ThemeList(others, ("wrong",)))
    async with app.run_test() as pilot:
        await settled(pilot)
        worn = []
        for keys in ("T", ["down", "down"], ["escape"]):
            await pilot.press(*keys)
            await settled(pilot)
            worn.append(app.theme)

        assert (worn[0], worn[2]) == ("zktop-dark", "zktop-dark")
        assert worn[1] == others[1].theme.name


async def test_enter_without_a_match_puts_the_old_theme_back() -> None:
    """The letters before the last one had a match, which was tried on."""
    app = _dressed()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("T", *"safeq", "enter")
        await settled(pilot)

        assert app.theme == "zktop-dark"
        assert len(app.screen_stack) == 1


async def test_enter_keeps_the_theme() -> None:
    """Typing narrows the list, and applies the theme that is left."""
    app = _dressed()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("T", *"safe", "enter")
        await settled(pilot)

        assert app.theme == "zktop-safe"
        assert len(app.screen_stack) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_every_theme_can_be_applied(name: str) -> None:
    """Every mounted widget can be drawn in it."""
    app = _dressed()
    theme = textual_theme(theme_named(name, {}, LOOKS)).theme
    async with app.run_test() as pilot:
        await settled(pilot)

        apply_theme(app, theme)
        await settled(pilot)
        assert app.theme == name


async def test_mistakes_in_files_are_shown_when_a_theme_is_chosen() -> None:
    """The author of a theme sees at once what is wrong."""
    found = ThemeList((), ("mine.yaml:3: primry: unknown key (did you mean primary?)",))
    app = app_of(themes=lambda: found)
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("T")
        await settled(pilot)

        assert [one.message for one in app._notifications][:1] == list(found.mistakes)


def _dressed() -> object:
    designs = theme_list({"XDG_CONFIG_HOME": "/nowhere"})
    dark = next(one for one in designs.designs if one.theme.name == "zktop-dark")
    assert isinstance(dark, NamedTheme)
    return app_of(themes=lambda: designs, theme=dark.theme)


async def test_the_cursor_of_the_plain_theme_is_one_bar() -> None:
    """Text keeps its colours on all other lines."""
    theme = textual_theme(theme_named("zktop-plain", {}, LOOKS)).theme
    async with app_of(*trouble(), theme=theme).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        row = next(one for one in painted(pilot.app) if "/locks/orders  " in one.text)
        reversed_styles = {one.style for one in row if one.style and one.style.reverse}

    assert {(style.color, style.bgcolor) for style in reversed_styles} != set()
    assert len({(style.color, style.bgcolor) for style in reversed_styles}) == 1
