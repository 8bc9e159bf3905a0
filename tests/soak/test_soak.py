"""A minute of random keys on demo scenes; `make soak` does the same for an hour."""

import os
import random
import sys
from pathlib import Path

import pytest
from soak.growth import grown, settled
from soak.random_keys import ANSWERS_S, random_keys

from zktop.ui.past.memory_limits import FRAMES_BYTES, PACKED_BYTES

SECONDS = float(os.environ.get("ZKTOP_SOAK_SECONDS", "60"))
CACHES_MB = (FRAMES_BYTES + PACKED_BYTES) / 1_000_000  # the stored past is not full after a minute


@pytest.mark.timeout(SECONDS + 120)
def test_a_minute_of_random_keys_breaks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, answers within two seconds, no growth, and no process left."""
    seed = int(os.environ.get("ZKTOP_SOAK_SEED", random.randrange(1_000_000)))
    with capsys.disabled():
        hint = (
            f"\nZKTOP_SOAK_SEED={seed} presses the same keys again; this takes {SECONDS:.0f} s\n"
        )
        sys.stdout.write(hint)

    with random_keys(seed, tmp_path) as keys:
        keys.run(SECONDS)

    early, late = settled(keys.samples, SECONDS)
    names = ("threads", "sockets", "processes")
    assert list(grown(early, late, names, CACHES_MB)) == []
    assert keys.answers_after_s < ANSWERS_S
