"""Tables of several servers may contradict each other: nothing raises, and answers agree."""

from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, ZK1, ZK2, ZK3, session
from model.make_facts import own as own_link

from zktop.model.facts import (
    AnyFact,
    Connection,
    Connections,
    Expiry,
    Server,
    ServerFact,
    Session,
    Watches,
)
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.world import World

NAMES = ("alice", "bob", "zktop")
SESSIONS: list[Session] = [*map(session, NAMES), 0, 0xFFFF_FFFF_FFFF_FFFF]
ids = st.sampled_from(SESSIONS)
paths = st.sampled_from(["/a", "/b", "/"]).map(Text)
numbers = st.integers(-5, 100_000)
maybe = st.none() | numbers
times = st.integers(NOW - 10_000, NOW + 10_000)
rows = st.builds(
    Connection,
    ids,
    st.just(Text("10.0.0.1:5")),
    maybe,
    numbers,
    numbers,
    numbers,
    st.none(),
    maybe,
    st.none() | times,
    maybe,
)
about = {"server": st.sampled_from([ZK1, ZK2, ZK3]), "at": times, "zxid": st.integers(0, 300)}
dates = st.none() | st.dictionaries(ids, numbers)
tables: st.SearchStrategy[ServerFact] = st.one_of(
    st.builds(Connections, rows=st.none() | st.lists(rows, max_size=4).map(tuple), **about),
    st.builds(Watches, rows=st.none() | st.dictionaries(ids, st.lists(paths).map(tuple)), **about),
    st.builds(
        Expiry,
        expires_in_ms=dates,
        timeouts_ms=dates,
        ephemerals=st.none() | st.dictionaries(ids, st.lists(paths).map(tuple)),
        tick_ms=maybe,
        **about,
    ),
    st.builds(Server, watches=maybe, version=st.none() | st.sampled_from(["3.8.0", "?"]), **about),
)


links = st.sampled_from([(), (own_link(),)])


@given(st.lists(tables, max_size=12), links, ids, st.integers(0, 300))
def test_every_answer_fits_the_others(
    facts: list[AnyFact], link: tuple[AnyFact, ...], one: Session, czxid: int
) -> None:
    """A connected session is alive; one that is cut off is alive and not connected."""
    world = World().after(*facts, *link)
    ensemble = Ensemble.of(world, NOW)

    connected, alive = ensemble.connected(one, czxid), ensemble.alive(one, czxid)
    span = ensemble.expires_in(one)

    assert (ensemble.presence(one) is not None) == (connected is True)
    assert connected is not True or alive is True
    assert ensemble.is_cut_off(one, czxid) is not True or (connected is False and alive is True)
    assert span is None or 0 <= span.low <= span.high
    assert (ensemble.watched(one) is None) == (ensemble.watched_at(one) is None)
    assert ensemble.own not in ensemble.watchers("/a")
    assert all((server.hidden_watches(ensemble.own) or 0) >= 0 for server in ensemble.tables)


@given(st.lists(tables, max_size=8), st.lists(tables, max_size=8), st.lists(ids))
def test_cached_values_change_no_answer(
    first: list[AnyFact], second: list[AnyFact], asked: list[Session]
) -> None:
    """An ensemble made from its predecessor answers like one made from scratch."""
    before = World().after(*first)
    after = before.after(*second)
    old = Ensemble.of(before, NOW)
    for one in asked:
        old.watched(one)

    kept, fresh = Ensemble.of(after, NOW, old), Ensemble.of(after, NOW)

    for one in SESSIONS:
        assert kept.presence(one) == fresh.presence(one)
        assert kept.watched(one) == fresh.watched(one)
        assert kept.alive(one) == fresh.alive(one)
    assert kept.watchers("/a") == fresh.watchers("/a")
    assert kept.changed_since(old) == fresh.changed_since(old)
