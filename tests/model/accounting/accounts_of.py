"""The accounts of a few moments of a world."""

from collections.abc import Iterable

from model.make_facts import NOW
from output.stories import facts, settings

from zktop.model.accounting.accounts import Accounts
from zktop.model.accounting.ledger import Ledger
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone
from zktop.model.text import Text
from zktop.model.world.world import World

SECOND = 1000
Moment = tuple[float, Iterable[AnyFact]]  # seconds since the beginning, and what was read then


def accounts(story: str, *moments: Moment, since: float | None = None) -> Accounts:
    """The accounts of a story that goes on with these facts, from a time on."""
    begin = None if since is None else NOW + round(since * SECOND)
    examiner, ledger, world = Examiner(settings(story)), Ledger(begin), World()
    for at, found in ((0, facts(story)), *moments):
        world = world.after(*found)
        ledger.look(examiner.look(world, NOW + round(at * SECOND)))
    return ledger.accounts()


def leaves(story: str, lock: str, place: int, after: float, zxid: int = 500) -> list[AnyFact]:
    """The facts when a contender of a story leaves a lock; places count from 0."""
    at = NOW + round(after * SECOND)
    path = f"/locks/{lock.lower()}"
    before = next(
        fact for fact in facts(story) if isinstance(fact, Children) and fact.path == path
    )
    name = before.names[place]
    return [Gone(path=Text(f"{path}/{name}"), zxid=zxid, at=at)]


def charged(found: Accounts) -> dict[str, tuple[float, float]]:
    """The least and the most that each client cost, in seconds."""
    return {
        actor.name: (actor.charge.alone_ms / SECOND, actor.charge.at_most_ms / SECOND)
        for actor in found.actors
        if actor.charge.at_most_ms
    }
