"""A deadlock on a server is posted to a webhook by every command that runs for long."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from app.alerts.test_webhooks import Receiver, receiving, statuses
from cli.live_processes import new_root, worker, zktop_process
from config.config_of import config_of
from servers import free_port, sandbox_server
from waiting import eventually

from zktop.app.clusters import live_feed


@pytest.fixture(scope="module")
def deadlocked() -> Iterator[str]:
    """The address of a server on which two clients wait for each other."""
    root = new_root()
    with (
        sandbox_server() as server,
        worker(server.address, "alice") as alice,
        worker(server.address, "bob") as bob,
    ):
        alice.acquire(f"{root}/orders")
        bob.acquire(f"{root}/stock")
        alice.ask(f"{root}/stock")
        bob.ask(f"{root}/orders")
        yield server.address


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that accepts everything."""
    with receiving() as one:
        yield one


@pytest.fixture
def config(tmp_path: Path, deadlocked: str, receiver: Receiver) -> str:
    """A config file that names the server and the webhook."""
    file = tmp_path / "config.yaml"
    hook = f"webhooks: [{{ url: '{receiver.url}' }}]"
    file.write_text(f"hosts: {deadlocked}\n{hook}\n", encoding="utf-8")
    return str(file)


def posted(receiver: Receiver) -> tuple[list[str], str, bool]:
    """The status and the rule of the next post, and whether it names a client."""
    body = receiver.next()
    alert = body["alerts"][0]
    return statuses(body), alert["labels"]["rule"], "alice" in alert["annotations"]["summary"]


DEADLOCK_POSTED = (["firing"], "D1", True)


@pytest.mark.parametrize(
    "command", ["record -o {}", "record --dir {}", "metrics --listen :{port}"]
)
def test_a_command_posts_it(command: str, config: str, receiver: Receiver, tmp_path: Path) -> None:
    """From a process of its own."""
    words = command.format(tmp_path / "out", port=free_port()).split()
    with zktop_process(*words, "--config", config):
        assert posted(receiver) == DEADLOCK_POSTED


def test_a_recorder_remembers_what_it_has_posted(
    config: str, receiver: Receiver, tmp_path: Path
) -> None:
    """In its folder, so that the next one can post that it is over."""
    with zktop_process("record", "--dir", str(tmp_path / "ring"), "--config", config):
        assert posted(receiver) == DEADLOCK_POSTED
        eventually((tmp_path / "ring/alerts.json").exists)


def test_the_ui_posts_it(config: str, receiver: Receiver) -> None:
    """While it shows it, and for each of its clusters."""
    feed = live_feed("prod", config_of(config))
    feed.start(lambda _news: None)
    try:
        assert posted(receiver) == DEADLOCK_POSTED
    finally:
        feed.stop()


def test_a_single_look_posts_nothing(config: str, receiver: Receiver, zktop: object) -> None:
    """`zktop check` may run every minute, and has an exit code."""
    assert zktop("check", "--config", config)[0] == 1
    assert receiver.posts.empty()
