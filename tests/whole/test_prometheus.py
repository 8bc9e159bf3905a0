"""A real Prometheus scrapes zktop while clients of a real server deadlock and others go on.

Every query of the dashboard returns data, and the rules and their sentences are those of docs.
"""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli.live_processes import Worker, new_root, worker
from prometheus_programs import ALERTS, MONITORING, program
from readme.tls_proxy import make_certificates
from servers import free_port, real_zookeeper
from waiting import eventually

pytestmark = [pytest.mark.prometheus, pytest.mark.zookeeper]

CONFIG = """
global: { scrape_interval: 500ms, evaluation_interval: 500ms }
rule_files: [%(rules)s]
scrape_configs:
  - job_name: zktop
    scheme: https
    tls_config: { ca_file: %(folder)s/ca.pem }
    basic_auth: { username: prom, password: secret }
    static_configs: [{ targets: ["127.0.0.1:%(port)d"] }]
"""
VARIABLES = {"$instance": ".*", "$root": ".*", "$__rate_interval": "5s"}


class Prometheus:
    """A running Prometheus."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/api/v1/"

    def get(self, path: str, **parameters: str) -> Any:
        """An answer of its API; None while it does not serve yet."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self._url}{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def value(self, expression: str) -> list[Any]:
        """The result of a query now; a quantile of nothing is no result."""
        found = self.get("query", query=expression) or {"result": []}
        return [one for one in found["result"] if one["value"][1] != "NaN"]

    def alerts(self) -> dict[str, str]:
        """The summaries of all alerts that are pending or firing, by name."""
        found = self.get("alerts") or {"alerts": []}
        return {
            one["labels"]["alertname"]: one["annotations"]["summary"] for one in found["alerts"]
        }


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """It scrapes zktop with TLS and a login."""
    folder, root, port = tmp_path_factory.mktemp("prometheus"), new_root(), free_port()
    make_certificates(folder)
    (folder / "login").write_text("prom:secret", encoding="utf-8")
    names = {"folder": folder, "rules": ALERTS, "port": port}
    (folder / "prometheus.yml").write_text(CONFIG % names, encoding="utf-8")
    with ExitStack() as stack:
        server = stack.enter_context(real_zookeeper(admin=True))
        hire = [stack.enter_context(worker(server.address, name)) for name in ("a", "b", "c", "d")]
        files = [f"--listen-{one}={folder / file}" for one, file in FILES.items()]
        words = ["metrics", "--hosts", server.address, "--root", f"{root}/*", *files]
        words += ["--admin-port", str(server.admin_port), "--listen", f"127.0.0.1:{port}"]
        stack.enter_context(process([sys.executable, "-m", "zktop", *words], folder))
        stack.enter_context(process(server_command(folder, web := free_port()), folder))
        prometheus = Prometheus(web)
        eventually(lambda: prometheus.value("zktop_up == 1"))
        stack.enter_context(play(hire, root))
        yield prometheus


FILES = {"cert": "me.pem", "key": "me.key", "login": "login"}


def server_command(folder: Path, port: int) -> list[str]:
    """The command line of Prometheus."""
    return [
        program("prometheus"),
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}",
    ]


@contextmanager
def process(command: list[str], folder: Path) -> Iterator[None]:
    """Run a program until the end of the block; its output is in the folder."""
    environment = {"XDG_CONFIG_HOME": str(folder), "PATH": os.environ["PATH"]}
    with (
        (folder / f"{Path(command[0]).name}.log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=environment) as running,
    ):
        yield
        running.terminate()


@contextmanager
def play(workers: list[Worker], root: str) -> Iterator[None]:
    """Two clients deadlock; one lock goes from hand to hand until the end."""
    alice, bob, carol, dave = workers
    alice.acquire(f"{root}/orders")
    bob.acquire(f"{root}/stock")
    alice.ask(f"{root}/stock")
    bob.ask(f"{root}/orders")
    is_over = threading.Event()
    busy = threading.Thread(target=take_turns, args=(carol, f"{root}/mail", is_over))
    busy.start()
    dave.acquire(f"{root}/quiet")
    yield
    is_over.set()
    busy.join()


def take_turns(client: Worker, path: str, is_over: threading.Event) -> None:
    """Take a lock and let it go."""
    while not is_over.wait(0.1):
        client.acquire(path)
        client.release(path)


def dashboard_queries() -> list[str]:
    """The expressions of all panels, with values for Grafana's variables."""
    board = json.loads((MONITORING / "zktop-dashboard.json").read_text(encoding="utf-8"))
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for variable, value in VARIABLES.items():
        found = [one.replace(variable, value) for one in found]
    return found


def test_every_query_of_the_dashboard_returns_data(prometheus: Prometheus) -> None:
    """While a deadlock lasts and a lock goes from hand to hand."""
    queries = dashboard_queries()

    assert not [query for query in queries if "$" in query]
    eventually(lambda: not [query for query in queries if not prometheus.value(query)])


def test_a_deadlock_becomes_an_alert(prometheus: Prometheus) -> None:
    """At first it is pending. Its sentence is complete."""
    eventually(lambda: "LockDeadlock" in prometheus.alerts())

    alerts = prometheus.alerts()
    assert alerts["LockDeadlock"] == "Confirmed deadlocks of ZooKeeper locks: 1"
    assert not [alert for alert in alerts.values() if re.search(r"<|%!|\{\{", alert)]
