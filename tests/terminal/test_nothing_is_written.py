"""Random keys on an ensemble leave its znodes unchanged."""

import random
import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from servers import RunningServer
from terminal.answers import ASKS, allow_writing
from terminal.test_keys import named, see
from textual.pilot import Pilot
from tmux import ZKTOP, terminal
from ui.fake_feed import pressed, settled
from waiting import eventually

from zktop.app.clusters import live_feed
from zktop.app.contenders import Contenders
from zktop.config.keys_and_defaults import Config
from zktop.ui.app import Zktop
from zktop.ui.keys import KEYS
from zktop.ui.settings import UiSettings

KEYS_PRESSED = 300
SEEDS = (  # the keys do not depend on the server, so each seed is pressed once
    ("sandbox", 1),
    pytest.param("real", 2, marks=pytest.mark.zookeeper),
    pytest.param("real", 3, marks=pytest.mark.zookeeper),
)
QUITS = {"q", "ctrl+c", "ctrl+q"}
NAMES = [name for key in KEYS for name in key.names if name not in QUITS]
CHOICES = (  # keys that write or confirm are pressed more often
    *NAMES,
    *(letter for letter in string.ascii_lowercase if letter not in QUITS),
    *(name for key in KEYS for name in key.names if key.writes),
    *["enter"] * 12,
)
LOCKS = ("/locks/orders", "/locks/a", "/zktop-demo/of-another-user")
BATCH = 5


class Znode(NamedTuple):
    """The Stat of a znode, in which any write to it or below it leaves a trace."""

    data: bytes
    created: int
    modified: int
    children_changed: int


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[KazooClient]:
    """A client that holds some locks, and waits for them."""
    client = KazooClient(server.address)
    client.start()
    eventually(lambda: not _ephemerals(client))  # killed clients of other tests
    for path in LOCKS:
        for _ in range(2):
            node = f"{path}/0123456789abcdef0123456789abcdef__lock__"
            client.create(node, b"a client", ephemeral=True, sequence=True, makepath=True)
    yield client
    client.stop()
    client.close()


def znodes(client: KazooClient, path: str = "/") -> dict[str, Znode]:
    """Every znode except the server's own."""
    try:
        data, stat = client.get(path)
        children = client.get_children(path)
    except NoNodeError:  # pragma: no cover  deleted meanwhile
        return {}
    found = {path: Znode(data, stat.czxid, stat.mzxid, stat.pzxid)}
    for child in children:
        if (below := f"{path.rstrip('/')}/{child}") != "/zookeeper":
            found |= znodes(client, below)
    return found


def _ephemerals(client: KazooClient, path: str = "/") -> list[str]:
    found = []
    for child in client.get_children(path):
        below = f"{path.rstrip('/')}/{child}"
        stat = client.exists(below)
        if stat is not None and below != "/zookeeper":
            found += [below] if stat.ephemeralOwner else _ephemerals(client, below)
    return found


def keys_of(seed: int) -> list[str]:
    """Random keys; the same for the same seed."""
    return random.Random(seed).choices(CHOICES, k=KEYS_PRESSED)


def command(server: RunningServer, folder: Path, *options: str) -> Sequence[str]:
    """Run zktop on this server, in its own folder, because some keys write files."""
    return ("env", "-C", str(folder), *ZKTOP, "--hosts", server.address, *options)


@pytest.mark.parametrize("options", [(), ("--read-only",)], ids=["asks", "read-only"])
@pytest.mark.parametrize(("server", "seed"), SEEDS, indirect=["server"])
def test_random_keys_write_nothing(
    server: RunningServer,
    client: KazooClient,
    tmp_path: Path,
    seed: int,
    options: tuple[str, ...],
) -> None:
    """In a real terminal, on every screen that the keys reach."""
    before = znodes(client)
    with terminal(*command(server, tmp_path, *options)) as screen:
        screen.until("LIVE")
        screen.until("orders")
        keys = [named(key) for key in keys_of(seed)]
        for begin in range(0, KEYS_PRESSED, BATCH):
            screen.press(*keys[begin : begin + BATCH])
        see(screen, "1")
        contenders = screen.contenders()

        assert znodes(client) == before
        assert contenders == []
        assert screen.exit_code is None
        assert screen.logged() == ""


@pytest.mark.parametrize(("server", "seed"), SEEDS, indirect=["server"])
async def test_random_keys_write_nothing_without_pauses(
    server: RunningServer,
    client: KazooClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    """Each key is pressed when the work of the one before is done."""
    monkeypatch.chdir(tmp_path)
    before = znodes(client)
    config = Config(hosts=server.address)
    contenders = Contenders(config)
    feed = live_feed("test", config, contenders)
    app = Zktop(feed, contenders, settings=UiSettings())
    try:
        async with app.run_test(size=(120, 36)) as pilot:
            await _live(pilot, app)
            for key in keys_of(seed):
                await pressed(pilot, key)
            await settled(pilot)

            assert znodes(client) == before
            assert not contenders.permission.is_given
    finally:
        feed.stop()
        contenders.close()


async def _live(pilot: Pilot[int], app: Zktop) -> None:
    while app.tape.last is None:
        await pilot.pause(0.02)


def test_the_same_keys_write_after_a_confirmation(
    server: RunningServer, client: KazooClient, tmp_path: Path
) -> None:
    """The dialog alone keeps these keys from writing."""
    before = znodes(client)
    with terminal(*command(server, tmp_path)) as screen:
        screen.until("LIVE")
        screen.press("S")
        allow_writing(screen)
        screen.until("Play a scene")
        screen.press("Enter")
        screen.until("LESSON 1")
        screen.until(lambda _text: znodes(client) != before)
        screen.press("q")
        screen.until(lambda _text: screen.exit_code == 0)

    assert znodes(client).keys() == before.keys()


def test_a_demo_on_an_ensemble_asks_before_it_plays(
    server: RunningServer, client: KazooClient, tmp_path: Path
) -> None:
    """The dialog says where; Esc leaves the screens without a scene."""
    before = znodes(client)
    with terminal("env", "-C", str(tmp_path), *ZKTOP, "demo", "--hosts", server.address) as screen:
        screen.until(f"{ASKS}{server.address}")
        screen.press("Enter", "Enter")
        screen.until("Nothing was written.")
        screen.press("Escape")
        screen.until(lambda text: ASKS not in text)
        assert znodes(client) == before

        screen.press("S")
        allow_writing(screen)
        screen.until("Play a scene")
        screen.press("Escape", "q")


def test_the_config_can_allow_it_for_good(server: RunningServer, tmp_path: Path) -> None:
    """With the setting no dialog opens below the demo root."""
    (tmp_path / "zktop.yaml").write_text("demo: { allow: always }\n")
    with terminal(*command(server, tmp_path, "--config", "zktop.yaml")) as screen:
        screen.until("LIVE")
        screen.press("S")
        screen.until("Play a scene")
        screen.press("Escape", "q")


@pytest.mark.parametrize("how", ["option", "config"])
def test_read_only_says_so(
    server: RunningServer, client: KazooClient, tmp_path: Path, how: str
) -> None:
    """The header shows it; screen 6 and the keys that write are absent and do nothing."""
    (tmp_path / "zktop.yaml").write_text("demo: { allow: never }\n")
    options = ("--read-only",) if how == "option" else ("--config", "zktop.yaml")
    before = znodes(client)
    with terminal(*command(server, tmp_path, *options)) as screen:
        screen.until("LIVE")
        text = screen.text()
        screen.press("S", "N", "W", "Enter")
        screen.until("zktop starts no demo clients")

        assert "RO ● LIVE" in " ".join(text.splitlines()[0].split())
        assert "Learn" not in text
        assert "Scene" not in text.splitlines()[-1]
        assert znodes(client) == before
