"""The profiles of hypothesis, and the tests that are left out without a real ZooKeeper."""

import gc
import os
import signal

import pytest
from browser import PROGRAM as CHROMIUM
from hypothesis import HealthCheck, settings
from prometheus_programs import has_prometheus
from servers import has_real_zookeeper

collect_ignore = ["sandbox/kazoo_on_sandbox.py"]  # a runner for a process of its own

# A process that a shell starts in the background ignores ctrl-c, and so do its children.
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

GC_THRESHOLDS = (10_000, 20, 20)  # Python's own are 700, 10, 10

_LEFT_OUT = pytest.StashKey[list[str]]()
_NEEDS = {  # by marker
    "zookeeper": "a real ZooKeeper server; install Debian's packages (tests/get-zookeeper does, "
    "as root) or set ZOOKEEPER_HOME",
    "kerberos": "Kerberos; `make kerberos` gets it, on Debian and as root",
    "prometheus": "prometheus and promtool; tests/get-prometheus gets them, on Debian",
    "chromium": "a headless Chromium; tests/get-chromium gets it, on Debian and as root",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests whose programs are missing; CI insists on a real ZooKeeper."""
    config.stash[_LEFT_OUT] = []
    for marker, what in _NEEDS.items():
        needing = [item for item in items if item.get_closest_marker(marker)]
        if not needing or _is_available(marker):
            continue
        if marker == "zookeeper" and os.environ.get("ZKTOP_REQUIRE_ZOOKEEPER"):
            raise pytest.UsageError("no real ZooKeeper was found, and this run requires one")
        config.stash[_LEFT_OUT].append(f"left out: {len(needing)} tests need {what}")
        for item in needing:
            item.add_marker(pytest.mark.skip(reason=f"needs {marker}"))


def pytest_collection_finish() -> None:
    """Keep all modules and tests out of garbage collection.

    Otherwise the collector takes a third of the time of tests/ui to scan them again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _is_available(marker: str) -> bool:
    if marker == "zookeeper":
        return has_real_zookeeper()
    if marker == "prometheus":
        return has_prometheus()
    if marker == "chromium":
        return CHROMIUM is not None
    from zk.kerberos_realm import is_available  # noqa: PLC0415  few suites need it

    return is_available()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print one line for each group of tests left out, and how to run it."""
    for line in config.stash.get(_LEFT_OUT, []):
        terminalreporter.write_line(line)
