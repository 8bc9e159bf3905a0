"""The waits of a crowd, counted on from one version to the next."""

import random

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.waits.root_blockers import tally
from zktop.model.waits.state import WaitRequest


@given(st.randoms(use_true_random=False))
def test_counting_on_is_counting_all(chance: random.Random):
    """Whoever comes, leaves, changes or moves, and however often."""
    requests = [_request(number, chance) for number in range(chance.randint(0, 90))]
    one = tally(requests)
    for number in range(100, 130):
        for _ in range(min(len(requests), chance.randint(0, 3))):
            requests.remove(chance.choice(requests))
        if requests and chance.random() < 0.5:
            place = chance.randrange(len(requests))
            requests[place] = _request(int(requests[place].node), chance)
        if chance.random() < 0.2:
            chance.shuffle(requests)
        requests.insert(chance.randint(0, len(requests)), _request(number, chance))
        one = one.after(tuple(requests))

        assert one == tally(requests)


def _request(number: int, chance: random.Random) -> WaitRequest:
    since_ms = chance.choice((None, chance.randint(1, 1000)))
    is_exempt = chance.random() < 0.2
    return WaitRequest(str(number), f"s{number}", "read", number, since_ms, exempt=is_exempt)
