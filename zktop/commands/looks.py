"""How the UI looks, from the settings: all that is wrong with them is said before it is shown."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from rich.console import Console
from textual.theme import BUILTIN_THEMES, Theme

from zktop.config import themes
from zktop.config.effective import Effective
from zktop.config.tree import DEFAULT, ConfigError, Mistake
from zktop.model.text import nearest
from zktop.ui.ink import INKS
from zktop.ui.keymap import mistakes, remapped
from zktop.ui.keys import KEYS
from zktop.ui.look import Look
from zktop.ui.ports import Herald
from zktop.ui.themes import PLAIN, Design, Wardrobe

_LOOKS = (*INKS, "cursor")
_FEW_COLOURS = "standard"  # as Rich calls the sixteen


def look_of(effective: Effective, environment: Mapping[str, str]) -> Look:
    """Tell how the UI looks, or say all that cannot be."""
    ui = effective.config.ui
    refuse(effective)
    name = ui.theme
    if effective.origin("ui.theme") == DEFAULT and _has_few_colours():
        name = PLAIN
    return Look(
        theme=design_of(themes.theme_named(name, environment, _LOOKS)).theme,
        themes=partial(wardrobe, environment),
        refresh=ui.refresh,
        table=remapped(ui.keys),
        changed_keys=frozenset(ui.keys),
        bell=ui.bell,
        herald=_herald(ui.command) if ui.command else None,
        is_ascii=is_ascii(environment),
        log=state_folder(environment) / "ui.log",
    )


def _herald(command: str) -> Herald:
    from zktop.commands.herald import Command  # noqa: PLC0415  few have set one

    return Command(command)


def refuse(effective: Effective) -> None:
    """Raise when settings of the UI are wrong, and say everything that is."""
    wrong = [
        Mistake(effective.origin(key), key, what) for key, what in _wrong(effective.config.ui.keys)
    ]
    command = effective.config.ui.command
    if command is not None:
        try:
            shlex.split(command)
        except ValueError as error:
            what = f"is no command: {str(error).lower()}"
            wrong.append(Mistake(effective.origin("ui.command"), "ui.command", what))
    if wrong:
        raise ConfigError(wrong)


def wardrobe(environment: Mapping[str, str]) -> Wardrobe:
    """Read all themes, as their files are now."""
    found = themes.all_themes(environment, _LOOKS)
    return Wardrobe(tuple(map(design_of, found.usable)), tuple(str(one) for one in found.mistakes))


def design_of(theme: themes.Theme) -> Design:
    """Give a theme as Textual wants it."""
    base = BUILTIN_THEMES["ansi-dark" if theme.dark else "ansi-light"].variables
    made = Theme(
        name=theme.name,
        dark=theme.dark,
        ansi=theme.ansi,
        variables={
            **(base if theme.ansi else {}),  # what Textual's own widgets need besides
            **{f"ink-{name}": look for name, look in theme.inks.items()},
        },
        **theme.colours,  # type: ignore[arg-type]  # colours only: the keys say so
    )
    return Design(made, theme.about)


def state_folder(environment: Mapping[str, str]) -> Path:
    """Give the folder for what is worth keeping and no setting."""
    base = environment.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(base) / "zktop"


def is_ascii(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal takes nothing but ASCII, or was said to."""
    said = environment.get("ZKTOP_ASCII", "")
    encoding = (getattr(sys.__stderr__, "encoding", "") or "").casefold()
    return said not in ("", "0") or "utf" not in encoding


def _wrong(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = [key.id for key in KEYS]
    for action in keys:
        if action not in known:
            meant = nearest(action, known)
            hint = f"did you mean {meant}?" if meant else f"known: {', '.join(known)}"
            yield f"ui.keys.{action}", f"there is no such action ({hint})"
    good = {action: text for action, text in keys.items() if action in known}
    yield from ((f"ui.keys.{action}", what) for action, what in mistakes(good))


def _has_few_colours() -> bool:
    if "NO_COLOR" in os.environ:
        return False
    return Console(file=sys.__stderr__, force_terminal=True).color_system == _FEW_COLOURS
