"""What all tests share: how hard hypothesis tries, and what happens without a real ZooKeeper."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from servers import has_real_zookeeper

collect_ignore = ["sandbox/kazoo_on_sandbox.py"]  # a runner for a process of its own

# Who is started in the background by a shell ignores ctrl-c, and so would all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

_SLOW_MACHINE = [HealthCheck.too_slow]

settings.register_profile("default", max_examples=60, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_SLOW_MACHINE
)
settings.register_profile(
    "long", max_examples=20_000, deadline=None, suppress_health_check=_SLOW_MACHINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

_LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a real ZooKeeper where none can be had; CI insists on it."""
    needing = [item for item in items if item.get_closest_marker("zookeeper")]
    if not needing or has_real_zookeeper():
        return
    if os.environ.get("ZKTOP_REQUIRE_ZOOKEEPER"):
        raise pytest.UsageError("no real ZooKeeper was found, and this run must not do without")
    config.stash[_LEFT_OUT] = len(needing)
    for item in needing:
        item.add_marker(pytest.mark.skip(reason="needs a real ZooKeeper"))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in one line what was left out, and how to have it run."""
    left_out = config.stash.get(_LEFT_OUT, 0)
    if left_out:
        terminalreporter.write_line(
            f"left out: {left_out} tests need a real ZooKeeper server; install Debian's packages "
            "(tests/get-zookeeper does, as root) or set ZOOKEEPER_HOME"
        )
