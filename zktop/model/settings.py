"""What users can configure about the model: roots, layouts, actors, owner names, thresholds."""

import re
from functools import cached_property
from typing import Literal

import msgspec

from zktop.model.layouts.layout import Layout
from zktop.model.owner_list import OwnerEntry
from zktop.model.root_entry import Root, path_pattern
from zktop.model.thresholds import Thresholds


class Settings(msgspec.Struct, frozen=True, dict=True):
    """Everything that the model needs to know besides facts."""

    roots: tuple[Root, ...] = ()
    layouts: tuple[Layout, ...] = ()  # defined by the user; tried before the built-in ones
    identity: Literal["session", "owner"] = "session"
    identity_pattern: str | None = None  # for owner labels; its first group names the actor
    owners: dict[str, OwnerEntry] = {}  # session, address, host or pattern -> name
    thresholds: Thresholds = Thresholds()
    own_roots: tuple[str, ...] = ()  # the paths of those `roots` that zktop added itself

    def root_of(self, path: str) -> Root | None:
        """The first root whose path or pattern matches this path."""
        exact = self._exact.get(path)
        if exact is not None:
            return exact
        for pattern, root in self._patterns:
            if pattern.fullmatch(path):
                return root
        return None

    @cached_property
    def _exact(self) -> dict[str, Root]:
        return {root.path: root for root in reversed(self.roots) if "*" not in root.path}

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], Root]]:
        return [(path_pattern(root.path), root) for root in self.roots if "*" in root.path]
