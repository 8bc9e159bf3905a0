"""Building blocks for scenes: `contends` describes a contender, the others make moves."""

from typing import TypeVar

from msgspec import convert
from msgspec.structs import replace

from zktop.demo_types.scene_moves import CommandContender, ExpectedStep, SceneMove, StartContender

Value = TypeVar("Value", CommandContender, ExpectedStep)


def contends(
    name: str, recipe: str, lock: str, mode: object = None, **options: object
) -> StartContender:
    """Return a contender for one lock. Other options belong to the claim or to the contender."""
    own = {key: options.pop(key) for key in StartContender.__struct_fields__ if key in options}
    claim = {"recipe": recipe, "path": lock, "mode": mode} | options
    return convert({"name": name, "claims": (claim,)} | own, StartContender)


def move(
    says: str,
    *starts: StartContender,
    do: str = "",
    until: str = "",
    ended: str = "",
    rest_s: float = 0.0,
) -> SceneMove:
    """Parse a move: `do` is a command, `until` lists steps, `ended` names a contender.

    >>> move("ann goes", do="ann release", until="bob notified, bob acquired", ended="ann").until
    (ExpectedStep(name='bob', what='notified'), ExpectedStep(name='bob', what='acquired'))
    """
    commands = (_parse(CommandContender, do),) if do else ()
    steps = tuple(_parse(ExpectedStep, step) for step in until.split(",") if step)
    return SceneMove(says, starts + commands, steps, (ended,) if ended else (), rest_s)


def first(*starts: StartContender) -> SceneMove:
    """Start contenders that acquire their locks immediately."""
    names = [start.name for start in starts]
    verb = "acquires" if len(starts) == 1 else "acquire"
    says = f"{' and '.join(names)} {verb} {_wanted(starts[0])}"
    return move(says, *starts, until=", ".join(f"{name} acquired" for name in names))


def behind(start: StartContender, says: str | None = None) -> SceneMove:
    """Start a contender that has to wait."""
    what = "decided" if start.claims[0].recipe == "poll" else "watching"
    says = says or f"{start.name} requests {_wanted(start)} and has to wait"
    return move(says, start, until=f"{start.name} {what}")


def behind_all(start: StartContender, *others: str) -> SceneMove:
    """Start a contender that wakes all other waiters, and wait until they watch again."""
    its_move = behind(start)
    again = tuple(ExpectedStep(name, "watching") for name in others)
    return replace(its_move, until=its_move.until + again)


def _parse(kind: type[Value], words: str) -> Value:
    fields = dict(zip(kind.__struct_fields__, words.split(), strict=False))
    return convert(fields, kind, strict=False)


def _wanted(start: StartContender) -> str:
    claim = start.claims[0]
    return f"a {claim.mode} lock on {claim.path}" if claim.mode else claim.path
