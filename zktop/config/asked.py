"""What was asked for outside the config file: by options and by the environment."""

import msgspec

from zktop.config.tree import Origin

COMMAND_LINE = "command line"


class Given(msgspec.Struct, frozen=True):
    """A setting that was given outside the file."""

    key: str  # where it would stand in the file: tls.ca
    texts: tuple[str, ...]
    origin: Origin
    is_list: bool = False

    @property
    def is_typed(self) -> bool:
        """Whether it stands on the command line, which beats the environment."""
        return self.origin.source == COMMAND_LINE


class Asked(msgspec.Struct, frozen=True):
    """All that was asked for outside the file."""

    file: Given | None = None
    cluster: Given | None = None
    layouts: Given | None = None  # ROOT=NAME
    settings: tuple[Given, ...] = ()  # what comes later wins

    def over(self, other: "Asked") -> "Asked":
        """Lay this over what was asked for before; the environment stays below."""
        files = [file for file in (other.file, self.file) if file]
        return Asked(
            max(files, key=lambda file: file.is_typed, default=None),
            self.cluster or other.cluster,
            self.layouts or other.layouts,
            tuple(sorted(other.settings + self.settings, key=lambda given: given.is_typed)),
        )
