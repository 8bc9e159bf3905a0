"""Requests that are made only when somebody looks say what those say that are there."""

from hypothesis import given
from hypothesis import strategies as st
from model.plain_locks import member

from zktop.model.facts import Session
from zktop.model.waits.assess import stuck_classes
from zktop.model.waits.from_locks import Contenders
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.root_blockers import Forest
from zktop.model.waits.state import WaitQueue

OWNERS = "ABCDE"


@st.composite
def lines(draw: st.DrawFn) -> list[list[str]]:
    """Who stands in a few locks, in which order; one may stand in several, or twice in one."""
    line = st.lists(st.sampled_from(OWNERS), min_size=1, max_size=4)
    return draw(st.lists(line, min_size=1, max_size=4))


def contenders(place: int, owners: list[str]) -> Contenders:
    """The members of one lock."""
    several = enumerate(owners, start=1)
    return Contenders(tuple(member(one, n, 10 * place + n, 1000 * n) for n, one in several))


def queue(place: int, owners: list[str], *, made: bool) -> WaitQueue:
    """One lock, with its requests made already or not."""
    requests = contenders(place, owners)
    return WaitQueue(f"/{place}", "exclusive", tuple(requests) if made else requests, seen_zxid=99)


def told(graph: WaitGraph) -> object:
    """All that a graph and the forest over it say."""
    forest = Forest()
    for lock, one in graph.queues.items():
        forest.replaced(lock, one)
    tangled = sorted(graph.tangled)
    places = [(actor, sorted(graph.locks(actor)), graph.places(actor)) for actor in tangled]
    return stuck_classes(graph), graph.stuck_set.cores, places, forest.roots(graph, 5000)


@given(lines(), st.data())
def test_a_graph_says_the_same_of_both(stand: list[list[str]], data: st.DataObject) -> None:
    """While locks are met, change, and vanish."""
    lazy, made = WaitGraph(), WaitGraph()
    for place, owners in enumerate(stand):
        lazy.met(queue(place, owners, made=False))
        made.met(queue(place, owners, made=True))
        assert told(lazy) == told(made)
    for place in data.draw(st.permutations(range(len(stand)))):
        if data.draw(st.booleans()):
            owners = data.draw(st.permutations(stand[place]))[1:]
            lazy.replaced(f"/{place}", queue(place, owners, made=data.draw(st.booleans())))
            made.replaced(f"/{place}", queue(place, owners, made=True))
        else:
            lazy.removed(f"/{place}")
            made.removed(f"/{place}")
        assert told(lazy) == told(made)


@given(st.lists(st.sampled_from(OWNERS), min_size=1), st.integers(0, 5), st.integers(0, 5))
def test_they_are_a_sequence_like_the_tuple(owners: list[str], start: int, end: int) -> None:
    """By place, by slice, one after another, and in comparisons."""
    unmade = contenders(1, owners)
    made = tuple(unmade)

    assert unmade == made
    assert hash(unmade) == hash(made)
    assert (unmade[0], unmade[-1], unmade[start:end]) == (made[0], made[-1], made[start:end])
    assert [f"{session:#x}" for session in unmade.sessions] == [one.actor for one in made]
    assert unmade.actor == made[0].actor
    assert unmade.waited_since_ms() == [one.since_ms for one in made[1:]]


def test_a_name_that_only_looks_like_a_session_is_another_actor() -> None:
    """Sessions are kept by number; a user's own names for actors must not meet there."""
    graph = WaitGraph()
    owner: Session = contenders(1, ["A"]).sessions[0]
    graph.met(queue(1, ["A"], made=False))

    assert graph.locks(f"{owner:#x}") == ("/1",)
    assert not graph.locks(f"0x0{owner:x}")
    assert not graph.locks(f"0X{owner:x}")
