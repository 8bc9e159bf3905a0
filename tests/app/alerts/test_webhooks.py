"""Posts to webhooks: a real receiver that refuses, stalls, redirects or is not there."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from output.test_finding_alerts import DEADLOCK, LATER, report
from servers import free_port
from waiting import PATIENCE_S, eventually

from zktop.app.alerts import webhooks
from zktop.app.alerts.webhooks import MAX_ALERTS_PER_POST, MAX_WAITING_ALERTS, Webhooks
from zktop.config.keys_and_defaults import WebhookSection
from zktop.model.format import iso
from zktop.output.finding_alerts import NEW_SESSION_MS

Answer = Callable[[BaseHTTPRequestHandler], None]


def code(status: int) -> Answer:
    """Answer with this status."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Location", "/elsewhere")
        request.end_headers()

    return answer


class Receiver:
    """Receives posts; the first ones get these answers, all others 200."""

    def __init__(self, *answers: Answer, port: int = 0) -> None:
        self.posts: queue.Queue[tuple[dict[str, str], Any]] = queue.Queue()
        left = [*answers]
        posts = self.posts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                posts.put((dict(self.headers), body))
                (left.pop(0) if left else code(200))(self)

            def log_message(self, *_args: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def next(self) -> Any:
        """The body of the next post."""
        return self.posts.get(timeout=PATIENCE_S)[1]

    def close(self) -> None:
        """Refuse connections from now on."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def receiving(*answers: Answer, port: int = 0) -> Iterator[Receiver]:
    """A receiver in this block."""
    receiver = Receiver(*answers, port=port)
    try:
        yield receiver
    finally:
        receiver.close()


@contextmanager
def hooks_to(url: str, complaints: list[str] | None = None, **more: Any) -> Iterator[Webhooks]:
    """A webhook with this address."""
    said = [] if complaints is None else complaints
    with Webhooks([WebhookSection(url=url, **more)], "prod", said.append) as hooks:
        yield hooks


@pytest.fixture(autouse=True)
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "FIRST_RETRY_S", 0.01)
    monkeypatch.setattr(webhooks, "LAST_RETRY_S", 0.01)


def statuses(body: Any) -> list[str]:
    """The status of each alert."""
    return [one["status"] for one in body["alerts"]]


def test_a_finding_is_posted_when_it_comes_and_when_it_is_over() -> None:
    """As JSON, with the name of the cluster."""
    with receiving() as receiver, hooks_to(receiver.url) as hooks:
        hooks.look(report(DEADLOCK))
        headers, body = receiver.posts.get(timeout=PATIENCE_S)
        hooks.look(report(at=LATER + 1))

        assert statuses(receiver.next()) == ["resolved"]
    assert (headers["Content-Type"], headers.get("Authorization")) == ("application/json", None)
    assert (statuses(body), body["alerts"][0]["labels"]["cluster"]) == (["firing"], "prod")


@pytest.mark.parametrize("kind", ["plain", "env", "file"])
def test_the_token_is_plain_or_in_the_environment_or_in_a_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may end with a new line."""
    file = tmp_path / "token"
    file.write_text("s3cret\n", encoding="utf-8")
    monkeypatch.setenv("HOOK_TOKEN", "s3cret")
    token = {"plain": "s3cret", "env": "env:HOOK_TOKEN", "file": f"file:{file}"}[kind]
    with receiving() as receiver, hooks_to(receiver.url, token=token) as hooks:
        hooks.look(report(DEADLOCK))
        headers, _ = receiver.posts.get(timeout=PATIENCE_S)

    assert headers["Authorization"] == "Bearer s3cret"


def test_a_file_that_comes_later_is_found(tmp_path: Path) -> None:
    """The address may be a secret, too; it is read for every post."""
    file, complaints = tmp_path / "url", list[str]()
    with receiving() as receiver, hooks_to(f"file:{file}", complaints) as hooks:
        hooks.look(report(DEADLOCK))
        eventually(lambda: complaints)
        file.write_text(receiver.url, encoding="utf-8")

        assert statuses(receiver.next()) == ["firing"]
    assert complaints[0] == f"webhook: {file}: No such file or directory."


def test_a_token_in_a_home_that_does_not_exist_is_a_complaint() -> None:
    """The thread goes on, and tries again."""
    complaints: list[str] = []
    with (
        receiving() as receiver,
        hooks_to(receiver.url, complaints, token="file:~no-such-user/t") as hooks,
    ):
        hooks.look(report(DEADLOCK))
        eventually(lambda: complaints)

    assert complaints == ["webhook: ~no-such-user/t: No such file or directory."]


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_a_failed_post_is_repeated(status: int) -> None:
    """The failure is a complaint, once, and so is its end."""
    complaints: list[str] = []
    failures = [code(status)] * 3
    with receiving(*failures) as receiver, hooks_to(receiver.url, complaints) as hooks:
        hooks.look(report(DEADLOCK))
        bodies = [receiver.next() for _ in range(4)]
        eventually(lambda: len(complaints) == 2)

    assert bodies == bodies[:1] * 4
    assert complaints[0].startswith(f"webhook: the receiver answered {status} ")
    assert complaints[1] == "webhook: the receiver accepts alerts again."


def test_only_the_newest_state_is_sent_to_a_receiver_that_was_down() -> None:
    """Whatever has happened in the meantime."""
    port, complaints = free_port(), list[str]()
    with hooks_to(f"http://127.0.0.1:{port}/", complaints) as hooks:
        hooks.look(report(DEADLOCK))
        eventually(lambda: complaints)
        hooks.look(report(at=LATER + 1))
        with receiving(port=port) as receiver:
            assert statuses(receiver.next()) == ["resolved"]
            eventually(lambda: len(complaints) == 2)
    assert complaints[0] == "webhook: the receiver cannot be reached: Connection refused."


def test_a_change_during_a_failed_post_is_sent_instead() -> None:
    """The older state of the same finding is not sent again."""
    is_over = threading.Event()

    def fail_later(request: BaseHTTPRequestHandler) -> None:
        is_over.wait(PATIENCE_S)
        code(503)(request)

    with receiving(fail_later) as receiver, hooks_to(receiver.url) as hooks:
        hooks.look(report(DEADLOCK))
        bodies = [receiver.next()]
        hooks.look(report(at=LATER + 1))
        is_over.set()
        bodies.append(receiver.next())

    assert [statuses(body) for body in bodies] == [["firing"], ["resolved"]]


@pytest.mark.parametrize(
    ("status", "reason"),
    [(400, "Bad Request"), (404, "Not Found"), (302, "Found"), (307, "Temporary Redirect")],
)
def test_a_refused_alert_is_dropped_and_the_next_one_sent(status: int, reason: str) -> None:
    """A redirection is a refusal: the address in the config should be the right one."""
    complaints: list[str] = []
    with receiving(code(status)) as receiver, hooks_to(receiver.url, complaints) as hooks:
        hooks.look(report(DEADLOCK))
        eventually(lambda: complaints)
        hooks.look(report(at=LATER + 1))
        bodies = [receiver.next(), receiver.next()]

    assert [statuses(body) for body in bodies] == [["firing"], ["resolved"]]
    assert complaints[0] == f"webhook: the receiver answered {status} {reason}; 1 alert dropped."


def test_a_stalled_receiver_delays_no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports go on, and so does the end of zktop."""
    monkeypatch.setattr(webhooks, "CLOSE_S", 0.05)
    is_over, done = threading.Event(), threading.Event()
    with receiving(lambda _request: done.wait(PATIENCE_S)) as receiver:

        def look_and_close() -> None:
            with hooks_to(receiver.url) as hooks:
                hooks.look(report(DEADLOCK))
                receiver.next()
                hooks.look(report(at=LATER + 1))
            is_over.set()

        threading.Thread(target=look_and_close, daemon=True).start()
        assert is_over.wait(PATIENCE_S)
        done.set()


def test_many_stalled_receivers_delay_the_end_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the time to send what is left together."""
    monkeypatch.setattr(webhooks, "CLOSE_S", 0.5)
    done = threading.Event()
    with receiving(*[lambda _request: done.wait(PATIENCE_S)] * 6) as receiver:
        hooks = Webhooks([WebhookSection(url=receiver.url)] * 6, "prod", print)
        hooks.look(report(DEADLOCK))
        for _ in range(6):
            receiver.next()
        began = time.monotonic()
        hooks.close()
        took_s = time.monotonic() - began
        done.set()

    assert took_s < 2.0


def test_unsent_alerts_are_sent_at_the_end() -> None:
    """The last report may have ended a deadlock."""
    with receiving() as receiver:
        with hooks_to(receiver.url) as hooks:
            hooks.look(report(DEADLOCK))

        assert statuses(receiver.next()) == ["firing"]


def test_thousands_of_alerts_are_sent_in_several_posts() -> None:
    """And what waits for a receiver is bounded: the oldest are dropped."""
    many = [replace(DEADLOCK, id=f"D1-{number}") for number in range(MAX_WAITING_ALERTS + 5)]
    complaints: list[str] = []
    with receiving() as receiver, hooks_to(receiver.url, complaints) as hooks:
        hooks.look(report(*many))
        sizes = [
            len(receiver.next()["alerts"])
            for _ in range(MAX_WAITING_ALERTS // MAX_ALERTS_PER_POST)
        ]

    assert set(sizes) == {MAX_ALERTS_PER_POST}
    assert "dropped" in complaints[0]


@pytest.mark.parametrize("token", ["s3cret\nand more", "s3cret\u20ac"])
def test_a_token_is_never_repeated(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that HTTP does not allow."""
    complaints: list[str] = []
    monkeypatch.setenv("HOOK_TOKEN", token)
    with (
        receiving() as receiver,
        hooks_to(receiver.url, complaints, token="env:HOOK_TOKEN") as hooks,
    ):
        hooks.look(report(DEADLOCK))
        eventually(lambda: complaints)

    assert complaints[0] == (
        "webhook: the address or the token has characters that HTTP does not allow."
    )


@pytest.mark.parametrize("url", ["env:NO_SUCH_VARIABLE", "http://127.0.0.1:http/s3cret"])
def test_an_address_is_never_repeated(url: str) -> None:
    """It may be a secret. Nothing else happens, and zktop goes on."""
    complaints: list[str] = []
    with hooks_to(url, complaints) as hooks:
        hooks.look(report(DEADLOCK))
        eventually(lambda: complaints)

    assert "s3cret" not in complaints[0]


def test_a_missing_secret_is_a_complaint_before_anything_is_posted() -> None:
    """At the first report, not at the first incident."""
    complaints: list[str] = []
    with hooks_to("http://127.0.0.1:1/", complaints, token="env:NO_SUCH_VARIABLE") as hooks:
        hooks.look(report())
        hooks.look(report())

    assert complaints == ["webhook: the environment variable NO_SUCH_VARIABLE is not set."]


def test_a_first_post_that_fails_is_a_complaint_after_a_missing_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The secret is there by then; the receiver is not."""
    complaints: list[str] = []
    with hooks_to("http://127.0.0.1:1/", complaints, token="env:HOOK_TOKEN") as hooks:
        hooks.look(report())
        monkeypatch.setenv("HOOK_TOKEN", "s3cret")
        hooks.look(report(DEADLOCK))
        eventually(lambda: len(complaints) == 2)

    assert complaints[1] == "webhook: the receiver cannot be reached: Connection refused."


def test_a_finding_that_ended_between_two_runs_is_resolved(tmp_path: Path) -> None:
    """If the runs share a file, for all their receivers; the finding may come late."""
    file = tmp_path / "alerts.json"
    with receiving() as receiver:
        sections = [WebhookSection(url=receiver.url)] * 2
        with Webhooks(sections, "prod", print, file) as first:
            first.look(report(DEADLOCK))
            fired = [receiver.next(), receiver.next()]
        with Webhooks(sections, "prod", print, file) as second:
            second.look(report(at=LATER + 1000))
            second.look(report(at=LATER + 1000 + NEW_SESSION_MS))
            resolved = [receiver.next(), receiver.next()]
        with Webhooks(sections, "prod", print, file) as third:
            third.look(report(at=LATER + 1000 + 2 * NEW_SESSION_MS))
    alerts = [body["alerts"][0] for body in (*fired, *resolved)]

    assert [one["status"] for one in alerts] == ["firing", "firing", "resolved", "resolved"]
    assert len({(one["fingerprint"], one["startsAt"]) for one in alerts}) == 1
    assert receiver.posts.empty()


def test_a_finding_that_ends_while_the_receiver_is_down_is_resolved_by_the_next_run(
    tmp_path: Path,
) -> None:
    """Its end is the one that the first run saw, and it is posted once."""
    port, file, complaints = free_port(), tmp_path / "alerts.json", list[str]()
    sections = [WebhookSection(url=f"http://127.0.0.1:{port}/")]
    with Webhooks(sections, "prod", complaints.append, file) as first:
        with receiving(port=port) as receiver:
            first.look(report(DEADLOCK))
            receiver.next()
        first.look(report(at=LATER + 1))
        eventually(lambda: complaints)
    with receiving(port=port) as receiver:
        with Webhooks(sections, "prod", print, file):
            [resolved] = receiver.next()["alerts"]
        with Webhooks(sections, "prod", print, file):
            pass

    assert (resolved["status"], resolved["endsAt"]) == ("resolved", iso(LATER + 1))
    assert receiver.posts.empty()


def test_firing_alerts_are_kept_again_after_a_full_disk(tmp_path: Path) -> None:
    """The failure is a complaint that names the file, once."""
    folder, complaints = tmp_path / "ring", list[str]()
    file = folder / "alerts.json"
    with receiving() as receiver:
        sections = [WebhookSection(url=receiver.url)]
        with Webhooks(sections, "prod", complaints.append, file) as hooks:
            hooks.look(report(DEADLOCK))
            hooks.look(report(at=LATER + 1))
            folder.mkdir()
            hooks.look(report(DEADLOCK, at=LATER + 2))

    assert [*json.loads(file.read_bytes())] == [DEADLOCK.id]
    assert complaints == [f"{file} cannot be written: No such file or directory."]


@pytest.mark.parametrize("stored", ["", "[]", "nonsense"])
def test_a_damaged_file_of_firing_alerts_is_replaced(stored: str, tmp_path: Path) -> None:
    """It is as if there had been no run before."""
    file = tmp_path / "alerts.json"
    file.write_text(stored, encoding="utf-8")
    section = WebhookSection(url="http://127.0.0.1:1/")
    with Webhooks([section], "prod", lambda _said: None, file) as hooks:
        hooks.look(report(DEADLOCK))

    assert [*json.loads(file.read_bytes())] == [DEADLOCK.id]
