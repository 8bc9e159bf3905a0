"""When a lock's own znode changed: its ACL and its data."""

import msgspec

from zktop.model.facts import Millis
from zktop.model.locks.lock import Lock


class RootChanges(msgspec.Struct, frozen=True, gc=False):
    """When the ACL or the data of a lock's znode changed."""

    access_at: Millis | None = None  # its ACL
    content_at: Millis | None = None  # its data

    def after(self, before: Lock | None, after: Lock) -> "RootChanges":
        """Add the changes between two looks at the same znode."""
        old, new = before.stat if before else None, after.stat
        if old is None or new is None or old.czxid != new.czxid:
            return self
        return RootChanges(
            self.access_at if old.aversion == new.aversion else after.at,
            self.content_at if old.version == new.version else after.at,
        )


NO_ROOT_CHANGES = RootChanges()
