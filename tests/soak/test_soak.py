"""Two minutes of random keys on demo scenes; `make soak` does the same for an hour."""

import os
import random
import sys
from pathlib import Path

import pytest
from soak.growth import grown, settled
from soak.random_keys import ANSWERS_S, fingers

SECONDS = float(os.environ.get("ZKTOP_SOAK_SECONDS", "120"))
FILLS_MB = 12.0  # the tape, which remembers the newest thousands of pictures, is not full so soon


@pytest.mark.timeout(SECONDS + 120)
def test_two_minutes_of_random_keys_break_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, an answer within two seconds, nothing that grows, and nothing left over."""
    seed = int(os.environ.get("ZKTOP_SOAK_SEED", random.randrange(1_000_000)))
    with capsys.disabled():
        said = (
            f"\nZKTOP_SOAK_SEED={seed} presses the same keys again; this takes {SECONDS:.0f} s\n"
        )
        sys.stdout.write(said)

    with fingers(seed, tmp_path) as one:
        one.go_on(SECONDS)

    early, late = settled(one.notes, SECONDS)
    names = ("threads", "sockets", "processes")
    assert list(grown(early, late, names, FILLS_MB)) == []
    assert one.answers_after_s < ANSWERS_S
