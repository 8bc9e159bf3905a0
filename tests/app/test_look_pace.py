"""How long a change may wait for the next look."""

from zktop.app.look_pace import BEHIND_S, CPU_SHARE, SLOWEST_S, LookPace


def test_a_change_after_many_looks_that_catch_up_is_looked_at_soon() -> None:
    """Looks that only catch up with examinations do not hold back the next change for seconds."""
    pace = LookPace()
    for number in range(100):
        pace.looked(began=number * BEHIND_S, cpu_s=CPU_SHARE)
    assert pace.earliest() <= 99 * BEHIND_S + SLOWEST_S
