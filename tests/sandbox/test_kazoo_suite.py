"""kazoo's own tests, which ship inside kazoo, run on the sandbox."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import kazoo.tests
import pytest
from servers import sandbox_server

TESTS = Path(__file__).parents[1]
# Modules that talk to a server, in groups of about the same length. The others (paths, hosts,
# retry, handlers, ...) test kazoo alone.
GROUPS = {
    "client, its operations": (["client"], "TestClient"),
    "client, the rest": (["client"], "not TestClient"),
    "watchers and caches": (["watchers", "cache", "interrupt", "counter"], ""),
    "locks": (["lock", "barrier", "party", "queue", "election", "lease"], ""),
    "partitioner and connection": (["partitioner", "connection"], ""),
    "the slow ones": (["watchers", "partitioner"], "SLOW"),
}
LEFT_OUT = {
    # needs a server that is stopped and started again: the sandbox has then forgotten all
    "test_request_queuing_session_expired": "client",
    "test_request_queuing_session_recovered": "client",
    # needs a cluster of several servers, one of them read-only
    "test_update_host_list": "client",
    "test_read_only": "connection",
    # needs TLS
    "TestSSLClient": "client",
    # needs reconfiguration of an ensemble; as on a server by default it is refused here
    "TestReconfig": "client",
    # count objects that kazoo leaves to the garbage collector: nothing a server could change
    "test_close": "cache",
    "test_delete_operation": "cache",
    # wants the connection to drop before the answer is there: a race that a fast server may win
    "test_connection_dropped": "connection",
}
SLOW = {  # they wait for many seconds by design: a group of their own, beside the others
    "test_child_watcher_remove_session_watcher": "watchers",
    "test_race_condition_new_partitioner_during_the_lock": "partitioner",
    "test_race_condition_new_partitioner_steals_the_lock": "partitioner",
}


@pytest.fixture(scope="module")
def runs():
    """All groups at once, on one server: most of their time is waiting."""
    with sandbox_server() as server:
        started = {name: start(*GROUPS[name], server.address) for name in GROUPS}
        yield started
        for run in started.values():
            run.kill()
            run.communicate()


def start(group, chosen, address):
    """A pytest of its own, with kazoo's cluster replaced by one sandbox."""
    wanted = [f"not {name}" for name, module in LEFT_OUT.items() if module in group]
    if chosen == "SLOW":
        wanted.append(f"({' or '.join(SLOW)})")
    else:
        wanted += [f"not {name}" for name, module in SLOW.items() if module in group]
        wanted += [chosen] if chosen else []
    options = ["-c", os.devnull, "-q", "--tb=short", "--timeout=60", "-W", "ignore"]
    options += ["-k", " and ".join(wanted)]
    plugins = ["-p", "pytest_timeout", "-p", "sandbox.kazoo_on_sandbox", "-p", "no:cacheprovider"]
    modules = [f"kazoo.tests.test_{module}" for module in group]
    changed = {
        "SANDBOX_ADDRESS": address,
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONFAULTHANDLER": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *plugins, "--pyargs", *modules],
        env=os.environ | changed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("group", GROUPS)
def test_kazoo(runs, group):
    """What kazoo tests in these modules holds on the sandbox."""
    try:
        printed, _ = runs[group].communicate(timeout=110)
    except subprocess.TimeoutExpired:
        runs[group].send_signal(signal.SIGABRT)  # prints what each thread is doing
        printed, _ = runs[group].communicate(timeout=30)

    assert runs[group].returncode == 0, printed
    assert " passed" in printed


def test_the_kazoo_tests_that_are_left_out_exist():
    """The lists name tests that exist, so they stay correct."""
    folder = Path(kazoo.tests.__file__).parent
    named = LEFT_OUT | SLOW | {"test_lock": "lock"}
    sources = {
        module: (folder / f"test_{module}.py").read_text() for module in set(named.values())
    }

    assert [name for name, module in named.items() if f" {name}(" not in sources[module]] == []
