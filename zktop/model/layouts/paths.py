"""What a path alone says of a root: that it is a part of a lock, or none at all."""

from typing import Final

QUEUE_OF_SEMAPHORE: Final = "-__lock__"

# Name -> the layouts that have such a part.
PARTS: Final[dict[str, tuple[str, ...]]] = {
    "leases": ("curator-semaphore-v2",),
    "locks": ("curator-semaphore-v2",),
    "entries": ("kazoo-locking-queue",),
    "taken": ("kazoo-locking-queue",),
    "backup-masters": ("hbase-master",),
}


def may_be_part(name: str) -> bool:
    """Tell by its name whether a root may be a part of another one."""
    return name in PARTS or name.isdecimal() or name.endswith(QUEUE_OF_SEMAPHORE)


def by_path(path: str) -> str | None:
    """Name what a well-known path says is no lock, whatever the children look like."""
    return "clickhouse-block-numbers" if "/block_numbers/" in path else None
