"""Measure a process, and compare the first half of a long run with the second."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WARM_UP = 0.3  # of the run; until then, caches fill
MAX_GROWTH_MB = 2.0
MAX_GROWTH_SHARE = 0.02


def memory_mb(pid: int | str = "self") -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def sockets(pid: int | str = "self") -> int:
    """Number of open sockets of a process."""
    count = 0
    for one in Path(f"/proc/{pid}/fd").iterdir():
        try:
            count += str(one.readlink()).startswith("socket:")
        except OSError:
            continue  # closed meanwhile
    return count


def threads(pid: int) -> int:
    """Number of threads of a process."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def is_running(pid: int) -> bool:
    """True if a process is alive and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def marked(mark: str) -> dict[int, str]:
    """Ids and commands of the processes with this text in their environment."""
    found = {}
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (one / "environ").read_bytes() and is_running(int(one.name)):
                command = (one / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(one.name)] = command.decode(errors="replace")
        except OSError:
            continue  # ended, or of another user
    return found


def settled(samples: Sequence[Any], seconds: float) -> tuple[Sequence[Any], Sequence[Any]]:
    """The measurements after the warm-up, in two halves."""
    rest = [sample for sample in samples if sample.at >= WARM_UP * seconds]
    return rest[: len(rest) // 2], rest[len(rest) // 2 :]


def grown(
    early: Sequence[Any],
    late: Sequence[Any],
    names: Sequence[str],
    max_growth_mb: float = MAX_GROWTH_MB,
) -> Iterator[str]:
    """What grew from one half to the other."""
    before, after = (_middle([one.memory_mb for one in part]) for part in (early, late))
    if after - before > max(max_growth_mb, MAX_GROWTH_SHARE * before):
        yield f"memory grew from {before:.1f} to {after:.1f} MB"
    for name in names:
        then, now = (min(getattr(one, name) for one in part) for part in (early, late))
        if now > then:  # the minimum: some come and go
            yield f"{name} grew from {then} to {now}"


def _middle(figures: list[float]) -> float:
    return sorted(figures)[len(figures) // 2]
