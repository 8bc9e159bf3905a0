"""Which members are remembered after they left, above all after a recursive delete."""

import pytest
from model.make_facts import NOW, session

from zktop.model.history.events import Elapsed, FormerMember
from zktop.model.history.former_members import MAX_FORMER_MEMBERS, FormerMembers
from zktop.model.text import Text

SECOND = 1_000
MOMENT, AN_HOUR = Elapsed(5, "exact"), Elapsed(3_600_000, "exact")


def left(
    name: str,
    at: int,
    held: Elapsed | None = None,
    by: str | None = "mallory",
    ending: str = "released",
) -> FormerMember:
    """A member that left so many milliseconds after NOW."""
    other = session(by) if by else None
    who = session(name), Text(name), "exclusive", 1
    return FormerMember(Text(name), *who, NOW + at, ending, held, deleted_by=other)


def after(*gone: FormerMember) -> FormerMembers:
    """The former members after these have left, one by one."""
    made = FormerMembers()
    for one in gone:
        made = made.after(one)
    return made


@pytest.mark.parametrize(
    ("first", "second", "is_brief"),
    [
        pytest.param({}, {}, True, id="it waited until a moment before"),
        pytest.param({}, {"held": Elapsed(5_000, "exact")}, False, id="it held the lock, too"),
        pytest.param({}, {"held": Elapsed(400, "exact")}, False, id="it had shared it"),
        pytest.param({}, {"held": Elapsed(5, "at-least")}, False, id="it may have held it long"),
        pytest.param({"ending": "abandoned"}, {}, False, id="a waiter was deleted first"),
        pytest.param({}, {"by": "trudy"}, False, id="two sessions deleted one node each"),
        pytest.param({}, {"by": None}, False, id="it released the lock itself"),
    ],
)
def test_a_waiter_holds_briefly_if_a_recursive_delete_made_its_turn(
    first: dict[str, str], second: dict[str, object], *, is_brief: bool
) -> None:
    """It deletes one node after the other, and each waiter comes first for milliseconds."""
    one, other = left("alice", 0, AN_HOUR, **first), left("bob", 5, **{"held": MOMENT} | second)

    assert [gone.held_briefly for gone in after(one, other).known] == [False, is_brief]


@pytest.mark.parametrize("step", [0, 5], ids=["in one look", "in a look each"])
@pytest.mark.parametrize("ending", ["released", "abandoned"])
def test_a_long_recursive_delete_does_not_displace_the_holder(ending: str, step: int) -> None:
    """It is deleted first; those behind it come first for a moment, or never."""
    held = Elapsed(step, "exact") if ending == "released" else None
    queue = [left(f"w{n}", n * step, held, ending=ending) for n in range(1, 200)]
    made = after(left("alice", 0, AN_HOUR), *queue)

    assert len(made.known) == MAX_FORMER_MEMBERS
    assert [made.known[0].label, made.known[-1].label] == ["alice", "w199"]
    assert made.forgotten_at == NOW + step * (200 - MAX_FORMER_MEMBERS)


def test_the_oldest_is_forgotten_if_all_of_them_held_the_lock() -> None:
    """As many as fit are remembered."""
    made = after(*[left(f"w{n}", n * SECOND, AN_HOUR, by=None) for n in range(40)])

    assert [one.label for one in made.known] == [f"w{n}" for n in range(8, 40)]
    assert made.forgotten_at == NOW + 7 * SECOND
