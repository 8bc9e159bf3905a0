"""Mistakes in the settings, each with its file and line, and the error that lists all of them."""

from collections.abc import Iterator

import msgspec

from zktop.config.tree import ValueOrigin
from zktop.errors import UsageError
from zktop.model.text import clean

MAX_PRINTED_MISTAKES = 50  # the rest are only counted


class ConfigMistake(msgspec.Struct, frozen=True):
    """One mistake in the settings: its place, its key, and what is wrong."""

    origin: ValueOrigin
    key: str
    problem: str

    def __str__(self) -> str:
        """Format the mistake as one line.

        >>> line = ValueOrigin("config.yaml", 12)
        >>> print(ConfigMistake(line, "roots[2].layuot", "unknown key"))
        config.yaml:12: roots[2].layuot: unknown key
        >>> option = ValueOrigin("command line", option="--root")
        >>> print(ConfigMistake(option, "roots[0]", "is empty"))
        --root: is empty
        """
        where = self.origin.option or str(self.origin)
        key = () if self.origin.option or not self.key else (self.key,)
        return clean(": ".join((where, *key, self.problem)))


class ConfigError(UsageError):
    """The settings cannot be used. The message has one line for each mistake."""

    def __init__(self, mistakes: list[ConfigMistake]) -> None:
        self.mistakes = tuple(
            dict.fromkeys(sorted(mistakes, key=lambda mistake: mistake.origin.line or 0))
        )
        super().__init__("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield from map(str, self.mistakes[:MAX_PRINTED_MISTAKES])
        if len(self.mistakes) > MAX_PRINTED_MISTAKES:
            yield f"... and {len(self.mistakes) - MAX_PRINTED_MISTAKES} more mistakes"
