"""An entry below `roots:` in the config: a path or a pattern, with what is known of its locks."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from zktop.model.layouts.layout import LockKind
from zktop.model.thresholds import Positive

# `form` as in `thresholds`
RootPath = Annotated[str, Meta(extra={"form": "root"})]
LayoutName = Annotated[str, Meta(extra={"form": "layout"})]


class Root(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lock path or a pattern of lock paths, with what is known about it."""

    path: RootPath  # `*` stands for one level, `**` for any depth
    layout: LayoutName | None = None
    leases: Positive | None = None
    kind: LockKind | None = None
    interop: bool = False  # clients of several libraries are configured to count each other
    blocking: bool = False  # an election whose candidates block until they lead


def path_pattern(path: str) -> re.Pattern[str]:
    """Compile the pattern of a root to a regular expression over paths.

    >>> bool(path_pattern("/locks/*").fullmatch("/locks/a/b"))
    False
    >>> bool(path_pattern("/locks/**").fullmatch("/locks/a/b"))
    True
    """
    levels = {"**": ".+", "*": "[^/]+"}
    parts = re.split(r"(\*\*|\*)", path)
    return re.compile("".join(levels.get(part, re.escape(part)) for part in parts))
