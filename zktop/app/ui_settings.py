"""Turn the config into the settings of the UI, and report every mistake before the UI starts."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from zktop.app.alerts.finding_command import FindingCommand
from zktop.app.clipboard import copy_by_program
from zktop.app.run_program import run_program
from zktop.config.files import home
from zktop.config.join_sources import EffectiveConfig
from zktop.config.keys_and_defaults import CommandSection, Config, UiSection
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.suggest import hint
from zktop.config.theme_files import ThemeFile, all_themes, theme_named
from zktop.ui.inks import INKS
from zktop.ui.keys import KEYS, added_mistakes, key_mistakes, with_user_keys
from zktop.ui.settings import UiSettings
from zktop.ui.themes import PLAIN, NamedTheme, ThemeList
from zktop.ui.user_commands import FIELDS, UserCommand, command_actions
from zktop.ui.widgets.ink_styles import LIGHT_CURSOR

_STYLES = (*INKS, "cursor")
_BACKGROUND = "#121212"  # Textual's default
_BORDER_SHARE = 0.25  # how much of the text's colour is in the colour of borders
_SIXTEEN_COLOURS = "standard"  # Rich's name for them


def ui_settings(effective: EffectiveConfig, environment: Mapping[str, str]) -> UiSettings:
    """Return the settings of the UI, or raise a ConfigError that lists every mistake in them."""
    ui = effective.config.ui
    check_ui(effective)
    name = ui.theme
    is_chosen = effective.origin("ui.theme").option or name != UiSection().theme
    if not is_chosen and _has_few_colours():
        name = PLAIN
    commands = tuple(map(user_command, effective.config.commands))
    return UiSettings(
        theme=textual_theme(theme_named(name, environment, _STYLES)).theme,
        themes=partial(theme_list, environment),
        refresh=ui.refresh,
        table=(*with_user_keys(ui.keys), *command_actions(commands)),
        commands=commands,
        run_program=run_program,
        changed_keys=frozenset(ui.keys),
        bell=ui.bell,
        finding_hook=FindingCommand(ui.command) if ui.command else None,
        copy=partial(copy_by_program, environment),
        is_ascii=is_ascii(environment),
        log=state_folder(environment) / "ui.log",
    )


def check_ui(effective: EffectiveConfig) -> None:
    """Raise ConfigError with every mistake in the keys and the commands of the UI."""
    config = effective.config
    mistakes = [*_key_mistakes(config.ui.keys)]
    if config.ui.command is not None:
        mistakes += [("ui.command", problem) for problem in _quoting_mistakes(config.ui.command)]
    mistakes += _command_mistakes(config)
    if mistakes:
        raise ConfigError(
            [ConfigMistake(effective.origin(key), key, problem) for key, problem in mistakes]
        )


def _key_mistakes(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = [key.id for key in KEYS]
    for action in keys:
        if action not in known:
            yield f"ui.keys.{action}", f"there is no such action ({hint(action, known)})"
    yield from (
        (f"ui.keys.{action}", problem) for action, problem in key_mistakes(_known_actions(keys))
    )


def _known_actions(keys: Mapping[str, str]) -> Mapping[str, str]:
    known = {key.id for key in KEYS}
    return {action: text for action, text in keys.items() if action in known}


def _command_mistakes(config: Config) -> Iterator[tuple[str, str]]:
    key_of_action: dict[str, str] = {}
    for index, section in enumerate(config.commands):
        problems = [*_quoting_mistakes(section.run)] or [*_field_mistakes(section)]
        yield from ((f"commands[{index}].run", problem) for problem in problems)
        key_of_action[f"command_{index}"] = f"commands[{index}].key"
    actions = command_actions(
        [user_command(replace(section, run="")) for section in config.commands]
    )
    for action, problem in added_mistakes(actions, _known_actions(config.ui.keys)):
        yield key_of_action[action], problem


def _quoting_mistakes(text: str) -> Iterator[str]:
    try:
        shlex.split(text)  # only to check it
    except ValueError as error:
        yield f"is not a command: {str(error).lower()}"


def _field_mistakes(section: CommandSection) -> Iterator[str]:
    known = FIELDS[section.on]
    for field in re.findall(r"\{([^{}]*)\}", section.run):
        if field not in known:
            yield f"there is no {{{field}}} of a {section.on} ({hint(field, known)})"


def user_command(section: CommandSection) -> UserCommand:
    """Split a command of the config into words."""
    words = tuple(shlex.split(section.run))
    return UserCommand(section.key, section.title, words, section.on, section.confirm)


def theme_list(environment: Mapping[str, str]) -> ThemeList:
    """Read all theme files again."""
    files = all_themes(environment, _STYLES)
    themes = tuple(textual_theme(file) for file in files.usable)
    return ThemeList(themes, tuple(str(mistake) for mistake in files.mistakes))


def textual_theme(file: ThemeFile) -> NamedTheme:
    base = BUILTIN_THEMES["ansi-dark" if file.dark else "ansi-light"].variables
    colours = file.colours
    border = colours.pop("line", "ansi_bright_black" if file.ansi else _border_colour(file))
    theme = Theme(
        name=file.name,
        dark=file.dark,
        ansi=file.ansi,
        variables={
            **(base if file.ansi else {}),  # Textual's own widgets need these, too
            "line": border,
            **({} if file.dark or file.ansi else {"ink-cursor": LIGHT_CURSOR}),
            **{f"ink-{name}": style for name, style in file.inks.items()},
        },
        **colours,  # type: ignore[arg-type]  # these keys are colours
    )
    return NamedTheme(theme, file.about)


def _border_colour(file: ThemeFile) -> str:
    """Return a colour for borders: closer to the background than to the text."""
    background, text = file.background or _BACKGROUND, file.foreground or file.primary
    return Color.parse(background).blend(Color.parse(text), _BORDER_SHARE).hex


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder for the UI's log."""
    base = environment.get("XDG_STATE_HOME") or home() / ".local/state"
    return Path(base) / "zktop"


def is_ascii(environment: Mapping[str, str]) -> bool:
    """Return whether to draw with ASCII only: ZKTOP_ASCII is set, or the locale is not UTF-8.

    Python treats the C locale as UTF-8: containers often use it, and their terminals know UTF-8.
    """
    setting = environment.get("ZKTOP_ASCII", "")
    encoding = (getattr(sys.__stderr__, "encoding", "") or "").casefold()
    return setting not in ("", "0") or "utf" not in encoding


def _has_few_colours() -> bool:
    if "NO_COLOR" in os.environ:
        return False
    return Console(file=sys.__stderr__, force_terminal=True).color_system == _SIXTEEN_COLOURS
