"""Whatever the facts say, however they contradict each other: no exception, and clean text."""

from hypothesis import given
from hypothesis import strategies as st
from model.findings.cases import At, ctx, ensemble_context, folded, found, history, k, sessions
from model.make_facts import NOW, ZK1, ZK2, connections, expiry, session, watches
from model.waits.notation import graph
from model.waits.stuck import assess

from zktop.model.facts import Connection, Expiry, Stat
from zktop.model.findings.apply import examine_ensemble, examine_lock, examine_session
from zktop.model.findings.catalogue import LOCK_RULES
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.findings.context import LockContext, SessionContext, SessionPlace
from zktop.model.findings.finding import Finding
from zktop.model.history.attempts import Attempts
from zktop.model.history.events import FormerMember
from zktop.model.text import clean
from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.deadlock_sentences import DisplayNames

CLIENTS = ("alice", "bob", "carol", "")
TEXTS = st.one_of(st.sampled_from(["lock-", "a", "config", "\x1b[2J", "é\n"]), st.text(max_size=9))
TIMES = st.one_of(st.none(), st.integers(-10, 2 * NOW))
NUMBERS = st.integers(-(2**31), 2**31 - 1)


def named(number: int) -> str:
    """A sequence number as servers print it."""
    return f"{number:010d}"


NAMES = st.one_of(
    st.builds(
        lambda who, n, mode: k(who, n, mode).name,
        st.sampled_from(CLIENTS),
        NUMBERS,
        st.sampled_from(["lock", "rlock"]),
    ),
    st.builds(lambda text, n: f"{clean(text).replace('/', '_')}-lock-{named(n)}", TEXTS, NUMBERS),
    st.builds(
        lambda n, mode: f"_c_{'0' * 8}-{'1' * 4}-{'2' * 4}-{'3' * 4}-{'4' * 12}-{mode}{named(n)}",
        NUMBERS,
        st.sampled_from(["lock-", "__READ__", "__WRIT__", "latch-"]),
    ),
    TEXTS.map(lambda text: clean(text).replace("/", "_") or "x"),
)
CHILDREN = st.lists(
    st.builds(
        At,
        NAMES,
        st.sampled_from(CLIENTS),
        st.integers(1, 2_000_000),
        st.integers(-10_000, 10**9),
        TEXTS,
    ),
    max_size=7,
    unique_by=lambda child: child.name,
)
ROWS = st.lists(
    st.builds(
        Connection,
        st.sampled_from(CLIENTS).map(lambda who: session(who) if who else 0),
        TEXTS.map(clean),
        st.one_of(st.none(), st.integers(0, 60_000)),
        NUMBERS,
        NUMBERS,
        NUMBERS,
        st.one_of(st.none(), st.sampled_from(["PING", "GETC", "\x1b"]).map(clean)),
        st.one_of(st.none(), NUMBERS),
        TIMES,
        TIMES,
    ),
    max_size=4,
)


@st.composite
def cases(draw: st.DrawFn) -> LockContext | None:
    """One lock of any names, with tables that two servers make up."""
    children = draw(CHILDREN)
    paths = [f"/locks/orders/{child.name}" for child in children] + ["/x-0000000001"]
    facts = st.dictionaries(
        st.sampled_from(CLIENTS[:3]), st.lists(st.sampled_from(paths), max_size=3), max_size=3
    )
    tables = [
        connections(
            server,
            *draw(ROWS),
            at=NOW + draw(st.integers(-20_000, 0)),
            zxid=draw(st.integers(0, 2_000_000)),
        )
        for server in (ZK1, ZK2, ZK1)
    ]
    tables += [
        watches(server, draw(facts), zxid=draw(st.integers(0, 2_000_000))) for server in (ZK1, ZK2)
    ]
    tables.append(
        draw(st.sampled_from([expiry(ZK1, {"alice": 5}), Expiry(zxid=0, at=0, server=ZK2)]))
    )
    past = history(
        former_members=draw(
            st.lists(
                st.builds(
                    FormerMember,
                    TEXTS.map(clean),
                    st.sampled_from([0, session("alice")]),
                    st.one_of(st.none(), TEXTS.map(clean)),
                    st.sampled_from(["read", "exclusive"]),
                    st.integers(0, 10**6),
                    st.integers(0, NOW),
                    st.sampled_from(["released", "abandoned", "expired"]),
                ),
                max_size=4,
            ).map(tuple)
        ),
        attempts=draw(
            st.dictionaries(
                TEXTS, st.builds(Attempts, st.integers(0, 9), st.integers(0, 9)), max_size=2
            )
        ),
        busy=draw(st.one_of(st.none(), st.floats(0, 1))),
        releases_per_s=draw(st.one_of(st.none(), st.floats(0, 1e6))),
        requests_per_s=draw(st.one_of(st.none(), st.floats(0, 1e6))),
        recreated_at=draw(TIMES),
        reaped_at=draw(TIMES),
    )
    stat = Stat(
        50,
        50,
        0,
        cversion=draw(NUMBERS),
        num_children=len(children),
        pzxid=draw(st.integers(0, 10**6)),
    )
    try:
        return ctx(*children, tables=tables, past=past, stat=stat, sessions=sessions(*tables))
    except AssertionError:  # the names make no lock
        return None


def talk(case: LockContext, who: str) -> SessionContext:
    """A session with its nodes."""
    mine = [member for member in case.members if member.owner == session(who)]
    places = [SessionPlace(case.lock, member, not case.is_waiting(member)) for member in mine]
    return SessionContext(session(who), tuple(places), shared=case.shared)


def texts(finding: Finding) -> list[str]:
    """All that a screen may show of a finding."""
    reasons = [reason.text for reason in finding.evidence]
    return [
        finding.sentence,
        finding.advice,
        finding.id,
        *finding.nodes,
        *reasons,
    ]


@given(cases())
def test_no_rule_raises_and_every_text_is_printable(case: LockContext | None) -> None:
    """A sentence that a terminal would obey is worse than none."""
    if case is None:
        return
    said = [examine_lock(case), *(examine_session(talk(case, who)) for who in CLIENTS[:3])]
    found = [finding for one in said for finding in one.findings]
    first = SubjectFindings().after(found, NOW, 2_000)
    again = first.after(found, NOW + 60_000, 2_000)
    shown = (*folded(first.shown), *folded(again.shown))

    assert all(clean(text) == text for one in (*found, *shown) for text in texts(one))
    assert all(clean(blind.why) == blind.why for one in said for blind in one.blinds)


@given(cases())
def test_the_same_facts_give_the_same_findings(case: LockContext | None) -> None:
    """A replay says what was said live, ids included."""
    if case is None:
        return
    again = LockContext(lock=case.lock, shared=case.shared, past=case.past)

    assert examine_lock(case) == examine_lock(again)


@given(cases())
def test_the_signs_of_a_lock_decide_no_verdict(case: LockContext | None) -> None:
    """The cheap test that spares most rules most locks hides nothing that they would find."""
    if case is None:
        return
    everything = {one.id for rule in LOCK_RULES for one in found(rule.id, case)}

    assert {finding.id for finding in examine_lock(case).findings} == everything


@given(TEXTS, TEXTS)
def test_a_deadlock_between_strange_names_is_shown_in_clean_text(owner: str, lock: str) -> None:
    """Owners and paths come from strangers, and go through the same door."""
    names = DisplayNames({"A": owner}, {"/X": lock})
    made = assess(graph("X x: A B ; Y x: B A"), ActorEvidence(now_ms=NOW), names).deadlocks
    found = examine_ensemble(ensemble_context(deadlocks=made)).findings

    assert found
    assert all(clean(text) == text for finding in found for text in texts(finding))
