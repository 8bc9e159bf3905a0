"""A C library that gives back what was dropped."""

import subprocess
import sys

import pytest

# Pieces of a size that the library has learned to take from its heap, and behind them one that
# stays.
DROPS = """
from pathlib import Path
from zktop.ui.thrift import LARGE, be_thrifty

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if {is_thrifty}:
    assert be_thrifty()
bytearray(4 * LARGE)
pieces = [bytearray(2 * LARGE) for _ in range(100)]
stays = [bytearray(1000) for _ in range(1000)]
before = resident()
pieces.clear()
print((before - resident()) // (100 * LARGE))
"""


def given_back(*, is_thrifty: bool) -> int:
    """Tell how many halves of the pieces went back."""
    command = [sys.executable, "-c", DROPS.format(is_thrifty=is_thrifty)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other libraries")
def test_what_was_dropped_goes_back() -> None:
    """By itself the library keeps it for what may come."""
    assert given_back(is_thrifty=False) == 0
    assert given_back(is_thrifty=True) >= 1
