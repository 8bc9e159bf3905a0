"""The ways to free a lock, as JSON and as text."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from zktop.model.format import count, several
from zktop.model.freeing.deeds import Deed
from zktop.model.freeing.free_plan import FreePlan
from zktop.model.freeing.refusals import unreadable_sentence
from zktop.model.freeing.ways import NEVER
from zktop.model.report import Report
from zktop.model.waits.confidence import CONFIDENCE_WORD
from zktop.output.schema import FREE, FreedJson, FreeJson, LockBlockerJson, WayToFreeJson
from zktop.output.snapshot_json import deadlock_json, finding_json, json_of
from zktop.output.snapshot_text import wrapped

ROLES: Final = {
    "holder": "holds it",
    "leftover": "left over in the queue",
    "foreign": "not a lock request, and in the way",
    "deadlocked": "part of the deadlock",
}
LABEL_CELLS: Final = 9


def free_json(plan: FreePlan, done: FreedJson | None = None) -> FreeJson:
    """Convert a plan, with what was done."""
    return json_of(
        plan,
        FreeJson,
        schema=FREE,
        deadlocks=[deadlock_json(deadlock) for deadlock in plan.deadlocks],
        findings=[finding_json(finding) for finding in plan.findings],
        done=done,
    )


def free_lines(
    plan: FreeJson,
    connection: Sequence[str] = (),
    left_out: Sequence[str] = (),
    *,
    knows_waiters: bool = True,
) -> Iterator[str]:
    """Yield lines about what blocks the lock and each way to free it. Commands are never cut.

    `connection` are the options to connect to this ensemble again. `left_out` are options that
    are not printed because they contain secrets.
    """
    yield from wrapped(
        f"{plan.lock}  {plan.layout}  {_state(plan, knows_waiters=knows_waiters)}", ""
    )
    if plan.error:
        yield from wrapped(unreadable_sentence(plan.lock, plan.error), "  ")
    for deadlock in plan.deadlocks:
        sure = CONFIDENCE_WORD[deadlock.confidence]
        yield from wrapped(f"DEADLOCK {sure}: {deadlock.sentence}", "  ")
    for finding in plan.findings:
        sure = CONFIDENCE_WORD[finding.confidence]
        head = f"{finding.severity.upper()} {finding.name}, {sure}: "
        yield from wrapped(head + finding.sentence, "  ")
    for number, blocker in enumerate(plan.blockers, start=1):
        yield ""
        yield from _blocker(number, blocker, plan.lock, connection)
    if plan.more:
        yield ""
        yield f"{count(plan.more, 'more node')} in the way"
    if any(blocker.session for blocker in plan.blockers):
        yield ""
        yield from wrapped(NEVER, "", "")
    if left_out and any(way.option for blocker in plan.blockers for way in blocker.ways):
        yield ""
        options = several(left_out)
        yield from wrapped(f"Add {options} to zktop's commands: secrets are left out.", "", "")


def _state(plan: FreeJson, *, knows_waiters: bool) -> str:
    if plan.error and not plan.waiting:
        return "its holders and waiters are unknown"
    waiting = "no client waits" if knows_waiters else "its waiters are unknown"
    if plan.waiting:
        waiting = count(plan.waiting, "client waits", "clients wait")
    return waiting if plan.blockers else f"nothing is in the way, {waiting}"


def done_lines(done: FreedJson, plan: FreeJson) -> Iterator[str]:
    """Yield lines about what was done, and in a dry run also about its effect."""
    yield from wrapped(done.sentence, "", "")
    if done.outcome == "dry-run":
        ways = [(blocker.path, way) for blocker in plan.blockers for way in blocker.ways]
        for path, way in ways:
            if path in done.paths and way.kind == done.kind:
                yield from _labelled("Effect", way.effect)
                yield from _labelled("Believes", way.belief)


def not_done(deed: Deed) -> FreedJson:
    """Describe a dry run."""
    if deed.kind == "delete-node":
        versions = several(f"version {stat.version}" for _, stat in deed.targets)
        does = f"delete {several(deed.paths)}, if it still has {versions}"
    else:
        does = (
            f"ask {several(deed.clients)} to release {deed.lock}: write __REVOKE__ into "
            f"{several(deed.paths)}"
        )
    return _freed_json(deed, "dry-run", f"Dry run: would {does}. Add --yes to do it.")


def freed_json(deed: Deed, report: Report) -> FreedJson:
    """Describe what was done, and the lock as it was read afterwards."""
    view = report.view(deed.lock)
    holders = [holder.name for holder in view.holders] if view else []
    waiting = view.waiting if view else 0
    holding = (
        f"{several(holders) or 'no client'} {'hold' if len(holders) > 1 else 'holds'} the lock"
    )
    waits = f", {count(waiting, 'client waits', 'clients wait')}" if waiting else ""
    paths = several(deed.paths)
    if deed.kind == "delete-node":
        done = f"Deleted {paths}"
    else:
        done = f"Asked {several(deed.clients)}, which released {deed.lock}"
    return _freed_json(
        deed, "freed", f"{done}. Read again: {paths} {_are(deed)} gone; now {holding}{waits}."
    )


def not_freed(deed: Deed) -> FreedJson:
    """Describe an action that has had no effect yet."""
    paths = several(deed.paths)
    if deed.kind == "delete-node":
        sentence = f"Deleted {paths}, but zktop has not seen the effect yet; look again later."
    else:
        sentence = (
            f"Asked {several(deed.clients)}, but {paths} {_are(deed)} still there. A client "
            "releases its lock when its own code is ready; look again later."
        )
    return _freed_json(deed, "asked", sentence)


def _are(deed: Deed) -> str:
    return "are" if len(deed.paths) > 1 else "is"


def _freed_json(
    deed: Deed, outcome: Literal["dry-run", "freed", "asked"], sentence: str
) -> FreedJson:
    paths = [str(path) for path in deed.paths]
    return FreedJson(kind=deed.kind, paths=paths, outcome=outcome, sentence=sentence)


def _blocker(
    number: int, blocker: LockBlockerJson, lock: str, connection: Sequence[str]
) -> Iterator[str]:
    place = "" if blocker.lock == lock else f", in {blocker.lock}"
    role = f"{ROLES[blocker.role]}{place}"
    yield from wrapped(f"{number}. {blocker.name}: {role}; {blocker.about}.", "", "   ")
    yield f"   {blocker.path}"
    for letter, way in zip("abcdef", blocker.ways, strict=False):
        yield from _way(letter, way, connection)


def _way(letter: str, way: WayToFreeJson, connection: Sequence[str]) -> Iterator[str]:
    yield from wrapped(f"{letter}) {way.what}", "   ", " " * 6)
    for command in way.commands:
        yield f"        {command}"
    if way.needs:
        yield from _labelled("Needs", way.needs)
    yield from _labelled("Effect", way.effect)
    yield from _labelled("Believes", way.belief)
    if way.option:
        yield from _labelled("zktop", "does it with:")
        yield f"        zktop {shlex.join((*way.option, *connection))}"
    elif way.refusal:
        yield from _labelled("zktop", f"does not do it: {way.refusal}.")


def _labelled(label: str, text: str) -> list[str]:
    head = f"      {label + ':':<{LABEL_CELLS}} "
    if label != "zktop":  # else the label is the subject of the sentence
        text = text[:1].upper() + text[1:]
    return wrapped(text, head, " " * len(head))
