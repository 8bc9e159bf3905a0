"""Wait for a condition; a failure names the condition that did not become true."""

import inspect
import time
from collections.abc import Callable

PATIENCE_S = 40.0


def source_of(condition: Callable[..., object]) -> str:
    """The line of a test that states the condition, for the message of a failed wait."""
    try:
        return " ".join(inspect.getsource(condition).split())
    except (OSError, TypeError):  # a partial, or a callable object
        return repr(condition)


def eventually(condition: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    """Wait until the condition is true, by asking every 10 ms."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not true after {seconds:g} s: {source_of(condition)}"
        time.sleep(0.01)
