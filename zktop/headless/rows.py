"""Locks and contenders as lines of text in columns."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from zktop.headless.durations import millis, spoken
from zktop.headless.schema import Contender, Lock
from zktop.model.facts import Millis
from zktop.model.findings.words import middle

FIRST = 8  # waiters of a long queue that are shown; then the last one, and all with a problem
FOLD = FIRST + 2
RUNS = 12
LONGEST_NAME, SHORT_NAME = 32, 16
PROBLEMS = {"missing": "NO WATCH", "elsewhere": "WATCHES ELSEWHERE"}
MODES = {"exclusive": "X", "read": "R", "write": "W", "lease": "S", "candidate": "C"}


def is_quiet(lock: Lock) -> bool:
    """Tell whether a lock is held by one and wanted by nobody else: worth a line, not more."""
    return not lock.waiters and not lock.error and not lock.warnings and len(lock.holders) == 1


def is_free(lock: Lock) -> bool:
    """Tell whether nobody wants it."""
    return not (lock.waiters or lock.holders or lock.error or lock.warnings)


def quiet_row(lock: Lock, now: Millis, width: int) -> Iterator[str]:
    """Write a lock and its only holder in one line, or in two if the path is long."""
    (holder,) = lock.holders
    name = middle(holder.name, SHORT_NAME)
    told = f"{_session(holder):<18} {age(holder, now):>8}"
    tail = f"{MODES[holder.mode]} {name:<{SHORT_NAME}}  {told}"
    room = width - len(tail) - 4
    if len(lock.path) > room:
        yield f"  {lock.path}"
        yield f"  {'':<{room}}  {tail}"
    else:
        yield f"  {lock.path:<{room}}  {tail}"


def queue(lock: Lock, now: Millis, width: int) -> Iterator[str]:
    """Write who holds a lock and who waits, a line each; long queues are folded."""
    yield from (contender_row(one, now, width) for one in _folded(lock.holders, "hold"))
    yield from (contender_row(one, now, width) for one in _folded(lock.waiters, "wait"))


def contender_row(contender: Contender | str, now: Millis, width: int) -> str:
    """Write one contender, or what stands for those that are folded."""
    if isinstance(contender, str):
        return cut(f"  {contender}", width)
    tail = f"{_session(contender):<18} {age(contender, now):>8}"
    state = "stranded" if contender.stranded else contender.state
    head = f"  {state:<7} {MODES[contender.mode]} {who(contender)}"
    behind = _behind(contender)
    room = width - len(tail) - 2
    left = f"{head}  {behind}" if behind else head
    return f"{cut(left, room):<{room}}  {tail}"


def who(contender: Contender) -> str:
    """Call somebody by a name that is no other's; the end of a long one tells it apart."""
    return middle(contender.name, LONGEST_NAME)


def age(contender: Contender, now: Millis) -> str:
    """Say how long it has been so: `>` at least, `<` at most, `?` unknown."""
    since = contender.since or contender.created
    if since is None:
        return "?"
    bound = {"seen": "", "at-most": "<"}.get(contender.since_is, ">")
    return bound + spoken(max(0, now - millis(since)) / 1000)


def mix(contenders: Sequence[Contender]) -> str:
    """Write a queue as runs of modes, if there are several.

    >>> mix(())
    ''
    """
    modes = (MODES[contender.mode] for contender in contenders)
    runs = [(mode, len(list(run))) for mode, run in groupby(modes)]
    if len(runs) < 2:  # noqa: PLR2004  one run says no more than its number
        return ""
    said = " ".join(f"{mode}{count if count > 1 else ''}" for mode, count in runs[:RUNS])
    return f"{said} ..." if len(runs) > RUNS else said


def cut(line: str, width: int) -> str:
    """Shorten a line that does not fit."""
    return line if len(line) <= width else line[: width - 1] + "…"


def _folded(some: Sequence[Contender], verb: str) -> Iterator[Contender | str]:
    """Leave out the middle of a long queue, but nobody who has a problem."""
    if len(some) <= FOLD:
        yield from some
        return
    yield from some[:FIRST]
    middle = some[FIRST:-1]
    odd = [one for one in middle if one.watch.verdict in PROBLEMS][:FIRST]
    runs = mix(some)
    more = len(middle) - len(odd)
    yield f"...     {more} more {verb}{f', in all {runs}' if runs else ''}"
    yield from odd
    yield some[-1]


def _session(contender: Contender) -> str:
    return contender.session or "no session"


def _behind(contender: Contender) -> str:
    problem = PROBLEMS.get(contender.watch.verdict, "")
    if not contender.blocked_by:
        return problem
    more = contender.ahead - 1
    name = contender.blocked_by[-1].rpartition("/")[2]  # the nearest
    number = name[-10:] if name[-9:].isdigit() else name
    return f"behind {number}{f' +{more}' if more else ''} {problem}".rstrip()
