"""Theme files: what stands in one, read and checked before anything is drawn with it.

A theme is a handful of colours, and where those are not enough a look for single inks. Everything
that could stop the UI while it switches is found here, with the file, the line and the key.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, inspect
from msgspec.structs import replace

from zktop.config.load import file_tree, theme_files
from zktop.config.reader import Check, ConfigReader
from zktop.config.suggest import quoted
from zktop.config.types import Word
from zktop.config.values import Form, word
from zktop.config.yaml_tree import ConfigError, ConfigMistake, ValueOrigin
from zktop.model.text import nearest

Colour = Annotated[str, Meta(extra={"form": "colour"})]
Style = Annotated[str, Meta(extra={"form": "style"})]

ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_ANSI = re.compile(
    r"ansi_(?:default|(?:bright_)?(?:black|red|green|yellow|blue|magenta|cyan|white))"
)
_OWN = ("primary", "secondary", "accent", "foreground", "background", "surface", "panel")
_STATES = ("success", "warning", "error")
_SHADES = ("-lighten-1", "-lighten-2", "-lighten-3", "-darken-1", "-darken-2", "-darken-3")
_COLOURS = frozenset(name + shade for name in (*_OWN, *_STATES) for shade in ("", *_SHADES))


class ThemeFile(msgspec.Struct, frozen=True, kw_only=True):
    """One theme file."""

    name: Word
    about: Word = "a theme of your own"
    dark: bool = True
    ansi: bool = False  # the terminal's own 16 colours, and no others
    primary: Colour
    secondary: Colour | None = None
    accent: Colour | None = None
    foreground: Colour | None = None
    background: Colour | None = None
    surface: Colour | None = None
    panel: Colour | None = None
    success: Colour | None = None
    warning: Colour | None = None
    error: Colour | None = None
    inks: dict[str, Style] = {}  # what a meaning looks like: holds, waits, critical, ...

    @property
    def colours(self) -> dict[str, str]:
        """The colours that it names."""
        named = ((key, getattr(self, key)) for key in (*_OWN, *_STATES))
        return {key: value for key, value in named if value is not None}


class ThemeFiles(NamedTuple):
    """All themes that can be used, and what is wrong with the others."""

    usable: tuple[ThemeFile, ...]
    mistakes: tuple[ConfigMistake, ...]


def theme_named(name: str, environment: Mapping[str, str], inks: Collection[str]) -> ThemeFile:
    """Read one theme, or say all that is wrong with it."""
    return _read(theme_files(environment)[name], inks)


def all_themes(environment: Mapping[str, str], inks: Collection[str]) -> ThemeFiles:
    """Read every theme; who has mistakes is left out."""
    usable: list[ThemeFile] = []
    mistakes: list[ConfigMistake] = []
    for _, file in sorted(theme_files(environment).items()):
        try:
            usable.append(_read(file, inks))
        except ConfigError as error:
            mistakes += error.mistakes
    return ThemeFiles(tuple(usable), tuple(mistakes))


def colour(text: str) -> str:
    """Read a colour: three or six hexadecimal digits, or one of the terminal's own.

    >>> colour("#5fafd7"), colour("ansi_bright_red")
    ('#5fafd7', 'ansi_bright_red')
    """
    if _HEX.fullmatch(text) or _ANSI.fullmatch(text):
        return text
    raise ValueError(f'expected a colour like "#5fafd7" or ansi_red, got {quoted(text)}')


def style(text: str) -> str:
    """Read the look of an ink: attributes, a colour, and `on` another one.

    >>> style("bold $error on #1c1c1c")
    'bold $error on #1c1c1c'
    """
    for part in word(text).split():
        if part in ATTRIBUTES or part == "on":
            continue
        if part.startswith("$"):
            _variable(part)
        elif not (_HEX.fullmatch(part) or _ANSI.fullmatch(part)):
            meant = nearest(part, ATTRIBUTES)
            hint = f"did you mean {meant}?" if meant else "like bold, $error, #d75f5f or on"
            raise ValueError(f"does not know {quoted(part)} ({hint})")
    return text


def _variable(part: str) -> None:
    if part[1:] not in _COLOURS:
        meant = nearest(part[1:], sorted(_COLOURS))
        hint = f"did you mean ${meant}?" if meant else f"known: ${', $'.join((*_OWN, *_STATES))}"
        raise ValueError(f"there is no colour {quoted(part)} ({hint})")


def _read(file: Path, inks: Collection[str]) -> ThemeFile:
    tree = file_tree(str(file))
    reader = ConfigReader(_FORMS, {ThemeFile: _check(file.stem, inks)})
    theme = reader.read(_shape(), tree)
    if reader.mistakes:
        named = [replace(each, origin=_at(each.origin, file)) for each in reader.mistakes]
        raise ConfigError(named)
    assert isinstance(theme, ThemeFile)  # noqa: S101  no mistake, so it was made
    return theme


def _at(origin: ValueOrigin, file: Path) -> ValueOrigin:
    """Name the file even where nothing stands in it."""
    return origin if origin.line is not None else ValueOrigin(str(file))


def _check(stem: str, inks: Collection[str]) -> Check:
    def mistakes(theme: ThemeFile) -> Iterator[tuple[str, str]]:
        if theme.name != stem:
            yield "name", f"must be {stem}, like the file, got {quoted(theme.name)}"
        for ink in theme.inks:
            if ink not in inks:
                meant = nearest(ink, sorted(inks))
                hint = f"did you mean {meant}?" if meant else f"known: {', '.join(inks)}"
                yield f"inks.{ink}", f"unknown ink ({hint})"
        yield from _mixed(theme)

    return mistakes


def _mixed(theme: ThemeFile) -> Iterator[tuple[str, str]]:
    """Find RGB colours in a theme of the terminal's own, and the other way round."""
    for key, value in theme.colours.items():
        if value.startswith("ansi_") != theme.ansi:
            wanted = "ansi_ colours, for ansi is true" if theme.ansi else "a colour like #5fafd7"
            yield key, f"must be {wanted}, got {quoted(value)}"


@cache
def _shape() -> inspect.Type:
    return inspect.type_info(ThemeFile)


_FORMS: dict[str, Form] = {"colour": colour, "style": style, "word": word}
