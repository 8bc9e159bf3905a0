"""Read and check theme files: a few colours, and styles for individual inks.

An ink is a meaning, like `holds` or `critical`. Mistakes that would break the UI later are
reported here with file, line and key.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from zktop.config.check_keys import Check, ConfigReader
from zktop.config.files import file_tree, theme_files
from zktop.config.keys_and_defaults import Word
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.parse_values import Form, word
from zktop.config.suggest import hint, quoted
from zktop.config.tree import ValueOrigin
from zktop.model.text import nearest

Colour = Annotated[str, Meta(extra={"form": "colour"})]
Style = Annotated[str, Meta(extra={"form": "style"})]

ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_ANSI = re.compile(
    r"ansi_(?:default|(?:bright_)?(?:black|red|green|yellow|blue|magenta|cyan|white))"
)


class ThemeFile(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a theme file."""

    name: Word
    about: Word = "a theme of your own"
    dark: bool = True
    ansi: bool = False  # only the 16 colours of the terminal
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
    line: Colour | None = None  # borders of panels
    inks: dict[str, Style] = {}  # ink -> style

    @property
    def colours(self) -> dict[str, str]:
        """The colours set in the file."""
        named = ((key, getattr(self, key)) for key in _NAMED_COLOURS)
        return {key: value for key, value in named if value is not None}


_OTHER_KEYS = ("name", "about", "dark", "ansi", "inks")
_NAMED_COLOURS = tuple(key for key in ThemeFile.__struct_fields__ if key not in _OTHER_KEYS)
_SHADES = ("-lighten-1", "-lighten-2", "-lighten-3", "-darken-1", "-darken-2", "-darken-3")
_VARIABLES = frozenset(
    name + shade
    for name in _NAMED_COLOURS
    for shade in ("", *_SHADES)
    if not (shade and name == "line")  # Textual has no shades of `line`
)


class ThemeFiles(NamedTuple):
    """The usable themes, and the mistakes in the others."""

    usable: tuple[ThemeFile, ...]
    mistakes: tuple[ConfigMistake, ...]


def theme_named(name: str, environment: Mapping[str, str], inks: Collection[str]) -> ThemeFile:
    """Read one theme, or raise a ConfigError that lists all its mistakes."""
    return _read(theme_files(environment)[name], inks)


def all_themes(environment: Mapping[str, str], inks: Collection[str]) -> ThemeFiles:
    """Read every theme, and leave out those with mistakes."""
    usable: list[ThemeFile] = []
    mistakes: list[ConfigMistake] = []
    for _, file in sorted(theme_files(environment).items()):
        try:
            usable.append(_read(file, inks))
        except ConfigError as error:
            mistakes += error.mistakes
    return ThemeFiles(tuple(usable), tuple(mistakes))


def colour(text: str) -> str:
    """Check a colour: three or six hexadecimal digits, or a terminal colour.

    >>> colour("#5fafd7"), colour("ansi_bright_red")
    ('#5fafd7', 'ansi_bright_red')
    """
    if _HEX.fullmatch(text) or _ANSI.fullmatch(text):
        return text
    raise ValueError(f'expected a colour like "#5fafd7" or ansi_red, got {quoted(text)}')


def style(text: str) -> str:
    """Check the style of an ink: attributes, a colour, and `on` a background colour.

    >>> style("bold $error on #1c1c1c")
    'bold $error on #1c1c1c'
    """
    for part in word(text).split():
        if part in ATTRIBUTES or part == "on":
            continue
        if part.startswith("$"):
            _check_variable(part)
        elif not (_HEX.fullmatch(part) or _ANSI.fullmatch(part)):
            near = nearest(part, ATTRIBUTES)
            meant = f"did you mean {near}?" if near else "like bold, $error, #d75f5f or on"
            raise ValueError(f"has an unknown word {quoted(part)} ({meant})")
    return text


def _check_variable(part: str) -> None:
    if part[1:] not in _VARIABLES:
        near = nearest(part[1:], sorted(_VARIABLES))
        meant = f"did you mean ${near}?" if near else f"known: ${', $'.join(_NAMED_COLOURS)}"
        raise ValueError(f"there is no colour {quoted(part)} ({meant})")


def _read(file: Path, inks: Collection[str]) -> ThemeFile:
    tree = file_tree(str(file))
    reader = ConfigReader(_FORMS, {ThemeFile: _check(file.stem, inks)})
    theme = reader.read_struct(ThemeFile, tree)
    if reader.mistakes:
        mistakes = [
            replace(mistake, origin=_in_file(mistake.origin, file)) for mistake in reader.mistakes
        ]
        raise ConfigError(mistakes)
    assert isinstance(theme, ThemeFile)  # noqa: S101  true without mistakes
    return theme


def _in_file(origin: ValueOrigin, file: Path) -> ValueOrigin:
    """Return the origin, or the file if it has no line, as in an empty file."""
    return origin if origin.line is not None else ValueOrigin(str(file))


def _check(stem: str, inks: Collection[str]) -> Check:
    def mistakes(theme: ThemeFile) -> Iterator[tuple[str, str]]:
        if theme.name != stem:
            yield "name", f"must be {stem}, like the file, got {quoted(theme.name)}"
        for ink in theme.inks:
            if ink not in inks:
                yield f"inks.{ink}", f"unknown ink ({hint(ink, inks)})"
        yield from _mixed_palettes(theme)

    return mistakes


def _mixed_palettes(theme: ThemeFile) -> Iterator[tuple[str, str]]:
    """Find RGB colours in an ANSI theme, and ANSI colours in an RGB theme."""
    for key, value in theme.colours.items():
        if value.startswith("ansi_") != theme.ansi:
            wanted = (
                "an ansi_ colour, because ansi is true" if theme.ansi else "a colour like #5fafd7"
            )
            yield key, f"must be {wanted}, got {quoted(value)}"


_FORMS: dict[str, Form] = {"colour": colour, "style": style, "word": word}
