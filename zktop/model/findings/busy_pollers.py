"""L6: waiters that poll instead of watching."""

from collections.abc import Iterator

from zktop.model.facts import Session
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import MissingInput, Rule, RuleMatch, RuleResult
from zktop.model.locks.lock import Member

POLLS = frozenset({"GETC", "EXIS", "GETD", "CREA", "DELE"})
POLLING_MS = 10_000


@Rule(
    "L6",
    "busy-poller",
    "warning",
    tables=("watches", "connections"),
    code="POL",
    after=(("lock", "L9"),),
    only_if=("waiters", "watches", "connections"),
)
def busy_poller(ctx: LockContext) -> Iterator[RuleResult]:
    """A waiter polls instead of watching."""
    for waiter in ctx.mismatched:
        session = waiter.member.owner
        presence = None if waiter.watched else ctx.ensemble.presence(session)
        if presence is None:
            continue
        if ctx.shared.sessions.requests_per_s(session) is None:
            yield MissingInput(
                "one connection table is not enough to know a request rate", "history"
            )
        elif is_polling(ctx, session) and presence.last_operation in POLLS:
            yield _poller(ctx, waiter.member, presence.at)


def is_polling(ctx: LockContext, session: Session) -> bool:
    """Whether a session makes more requests than a patient waiter would."""
    sessions = ctx.shared.sessions
    rate, step = sessions.requests_per_s(session), sessions.last_step(session)
    if rate is None or step is None or rate <= ctx.thresholds.busy_polls_per_second:
        return False
    if sessions.idle_since(session) is None:
        return True
    return step.requests > 2 * step.notifications  # otherwise fired watches explain its requests


def _poller(ctx: LockContext, member: Member, at: int) -> RuleMatch:
    name, rate = ctx.name_of(member), ctx.shared.sessions.requests_per_s(member.owner) or 0
    return RuleMatch(
        about=ctx.about(member),
        sentence=f"{name} polls {ctx.name}: {rate:.1f} requests a second while it waits.",
        confidence="C2",
        evidence=(
            (True, "it has no watch in this lock, and its last operation fits a poll"),
            (None, "its requests are about this lock"),
        ),
        advice="Let it watch its predecessor: each poll loads a server, and sees a release late.",
        as_of=at,
        patience_ms=POLLING_MS,
    )
