"""The number that comes next."""

from model.builders import kazoo_name
from model.locks.lock_worlds import lock_in, world_of


def members(count: int) -> list[str]:
    """Names that kazoo gives to so many contenders."""
    return [kazoo_name(f"w{at}", at) for at in range(count)]


def test_the_next_number_is_above_all_that_are_there() -> None:
    """The counter of the root may have been read before the newest members came."""
    made = lock_in(world_of(members(3), next_sequence=1))

    assert made.next_sequence == 3


def test_behind_the_last_number_only_the_counter_tells() -> None:
    """The number after that is a negative one."""
    names = [kazoo_name("a", 2_147_483_647), kazoo_name("b", -2_147_483_648)]

    assert lock_in(world_of(names, next_sequence=5)).next_sequence == 5
    assert lock_in(world_of(names[:1], next_sequence=5)).next_sequence == 5
