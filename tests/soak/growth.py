"""What must not grow while something runs for long: processes measured, and figures judged."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WARM = 0.3  # of the run: what grows until then is a cache that fills
MAY_GROW_MB = 2.0
MAY_GROW_BY = 0.02  # of the memory after warming up


def memory_mb(pid: int | str = "self") -> float:
    """Measure what of a process is in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def sockets(pid: int | str = "self") -> int:
    """Count the sockets that a process has open."""
    count = 0
    for one in Path(f"/proc/{pid}/fd").iterdir():
        try:
            count += str(one.readlink()).startswith("socket:")
        except OSError:
            continue  # the listing's own descriptor, or one closed meanwhile
    return count


def threads(pid: int) -> int:
    """Count the threads of a process."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def is_running(pid: int) -> bool:
    """Tell whether a process lives; one that nobody has buried yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def marked(mark: str) -> dict[int, str]:
    """Find the processes that have this in their environment: their ids and commands."""
    found = {}
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (one / "environ").read_bytes() and is_running(int(one.name)):
                command = (one / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(one.name)] = command.decode(errors="replace")
        except OSError:
            continue  # it ended, or is not ours
    return found


def settled(notes: Sequence[Any], seconds: float) -> tuple[Sequence[Any], Sequence[Any]]:
    """Give the two halves of what was noted after warming up; each note says when it was made."""
    rest = [note for note in notes if note.at >= WARM * seconds]
    return rest[: len(rest) // 2], rest[len(rest) // 2 :]


def grown(
    early: Sequence[Any],
    late: Sequence[Any],
    names: Sequence[str],
    may_grow_mb: float = MAY_GROW_MB,
) -> Iterator[str]:
    """Say what grew from one half to the other."""
    before, after = (_middle([one.memory_mb for one in part]) for part in (early, late))
    if after - before > max(may_grow_mb, MAY_GROW_BY * before):
        yield f"memory grew from {before:.1f} to {after:.1f} MB"
    for name in names:
        then, now = (min(getattr(one, name) for one in part) for part in (early, late))
        if now > then:  # the least there is: some come and go
            yield f"{name} grew from {then} to {now}"


def _middle(figures: list[float]) -> float:
    return sorted(figures)[len(figures) // 2]
