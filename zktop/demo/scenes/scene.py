"""Building blocks for scenes: `contends` starts a contender, the others make moves."""

from msgspec import convert
from msgspec.structs import replace

from zktop.demo_types import ExpectedStep, SceneMove, StartContender, StepKind


def contends(
    name: str, recipe: str, lock: str, mode: object = None, **options: object
) -> StartContender:
    """A contender that wants one lock; other options belong to the claim or to the contender."""
    own = {key: options.pop(key) for key in StartContender.__struct_fields__ if key in options}
    claim = {"recipe": recipe, "path": lock, "mode": mode} | options
    return convert({"name": name, "claims": (claim,)} | own, StartContender)


def first(*starts: StartContender) -> SceneMove:
    """Start contenders that acquire their locks at once."""
    names = _list([start.name for start in starts])
    verb = "has" if len(starts) == 1 else "have"
    return SceneMove(
        f"{names} {_wishes(starts[0], len(starts))}, and {verb} it",
        starts,
        tuple(ExpectedStep(start.name, "acquired") for start in starts),
    )


def behind(start: StartContender, says: str | None = None) -> SceneMove:
    """Start a contender that has to wait."""
    what: StepKind = "decided" if start.claims[0].recipe == "poll" else "watching"
    says = says or f"{start.name} {_wishes(start)}, and has to wait"
    return SceneMove(says, (start,), (ExpectedStep(start.name, what),))


def behind_all(start: StartContender, *others: str) -> SceneMove:
    """Start a contender that wakes all other waiters; wait until they watch again."""
    move = behind(start)
    again = tuple(ExpectedStep(name, "watching") for name in others)
    return replace(move, until=move.until + again)


def _wishes(start: StartContender, number: int = 1) -> str:
    claim = start.claims[0]
    to = {"read": "to read", "write": "to write"}.get(claim.mode or "", "for")
    return f"{'asks' if number == 1 else 'ask'} {to} {claim.path}"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
