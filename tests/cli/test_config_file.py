"""`zktop config` writes and checks a config file; `zktop info` prints no secret of one."""

import posixpath
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from zktop.cli.main import COMMANDS

EXAMPLE = Path(__file__).parents[2] / "config.example.yaml"
SECRETS = """\
hosts: zk1.bank.example:2181
auth: ["digest:monitor:hunter2"]
sasl: { username: monitor, password: hunter3 }
clusters: { vault: { hosts: "zk2.bank.example:2181" } }
owners: { 10.0.1.11: billing-1 }
"""
BAD = """\
hosst: zk1:2181
ui: { theme: zktop-drak, keys: { qiut: x }, command: 'notify "' }
commands: [{ key: f5, title: log }, { key: f6, title: log, run: "kubectl logs {hots}" }]
roots: [locks]
clusters: { prod: { hosts: "zk1:99999999" } }
"""
EVERY_MISTAKE = [
    "bad.yaml:1: hosst: unknown key (did you mean hosts?)",
    'bad.yaml:2: ui.theme: there is no theme "zktop-drak" (did you mean zktop-dark?)',
    "bad.yaml:2: ui.keys.qiut: there is no such action (did you mean quit?)",
    "bad.yaml:2: ui.command: is not a command: no closing quotation",
    "bad.yaml:3: commands[0]: the key run is missing",
    "bad.yaml:3: commands[1].run: there is no {hots} of a session (did you mean host?)",
    'bad.yaml:4: roots[0]: the root must start with /, got "locks"',
    'bad.yaml:5: clusters.prod.hosts: the port of "zk1:99999999" must be a number from 1 to 65535',
]


class Keyboard(StringIO):
    """What a user types at a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


Run = Callable[..., tuple[int, str, str]]


def test_a_new_config_file_is_the_example_and_valid(zktop: Run, tmp_path: Path) -> None:
    """It is where zktop reads it, and only its owner can read it: passwords may be in it."""
    file = tmp_path / "zktop" / "config.yaml"

    assert zktop("config", "validate")[0] == 2
    assert zktop("config", "init") == (0, f"wrote {file}\n", "")
    assert file.read_bytes() == EXAMPLE.read_bytes()
    assert file.stat().st_mode & 0o077 == 0
    assert zktop("config", "validate") == (0, f"{file}: no mistakes\n", "")


def test_an_existing_file_is_kept(
    zktop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is replaced with --force, or when the user agrees at a terminal."""
    file = tmp_path / "mine.yaml"
    file.write_text("hosts: zk1:2181\n", encoding="utf-8")

    assert zktop("config", "init", str(file)) == (2, "", f"{file} exists; --force replaces it.\n")
    monkeypatch.setattr("sys.stdin", Keyboard("n\n"))
    assert zktop("config", "init", str(file))[0] == 130
    assert file.read_text(encoding="utf-8") == "hosts: zk1:2181\n"
    assert zktop("config", "init", "--force", str(file))[0] == 0
    assert file.read_bytes() == EXAMPLE.read_bytes()


@pytest.mark.parametrize("how", [("bad.yaml",), ("--config", "bad.yaml")])
def test_validate_names_every_mistake(zktop: Run, tmp_path: Path, how: tuple[str, ...]) -> None:
    """In one pass, those of the UI's keys and commands included."""
    (tmp_path / "bad.yaml").write_text(BAD, encoding="utf-8")

    code, out, err = zktop("config", "validate", *how)

    assert (code, err) == (2, "")
    assert out.splitlines() == EVERY_MISTAKE


def test_validate_needs_no_more_than_the_syntax_to_fail(zktop: Run, tmp_path: Path) -> None:
    """A file that is no YAML has one mistake."""
    (tmp_path / "bad.yaml").write_text("roots: [", encoding="utf-8")

    code, out, _ = zktop("config", "validate", "bad.yaml")

    assert code == 2
    assert out.startswith("bad.yaml:1: is not valid YAML")
    assert out.count("\n") == 1


@pytest.mark.parametrize("broken", ["", "hosst: zk1:2181\n", "ui: ["])
def test_info_prints_no_value_of_a_setting(
    zktop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Versions, terminal and names of settings, even if the config file is broken."""
    folder = tmp_path / "zktop"
    folder.mkdir()
    (folder / "config.yaml").write_text(SECRETS + broken, encoding="utf-8")
    monkeypatch.setenv("ZKTOP_HOSTS", "zk3.bank.example:2181")
    monkeypatch.setenv("TERM", "xterm-256color")

    code, out, err = zktop("info")

    assert (code, err) == (0, "")
    for secret in ("hunter", "monitor", "bank", "10.0.1.11", "billing", "vault"):
        assert secret not in out
    for line in ("Python", "textual", "kazoo", "TERM ", "encoding", "ZKTOP_HOSTS"):
        assert line in out
    expected = "1 mistake; see" if broken else "auth (1), "
    assert expected in out
    assert {"config", "info"} <= COMMANDS.keys()


@pytest.mark.parametrize("args", [("info",), ("info", "--config"), ("config", "validate")])
def test_a_home_that_does_not_exist_is_no_crash(
    zktop: Run, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    """As in a container that runs with any user id."""
    monkeypatch.setattr(posixpath, "expanduser", lambda path: path)  # as for an unknown user
    named = () if args == ("info",) else ("~no-such-user/c.yaml",)

    code, out, err = zktop(*args, *named)

    assert code in {0, 2}
    assert not named or "~no-such-user/c.yaml" in out + err


def test_info_works_if_the_config_file_cannot_be_looked_for(
    zktop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder that may not be searched; here its name is too long."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/" + "x" * 300)

    code, out, err = zktop("info")

    assert (code, err) == (0, "")
    assert "textual" in out


def test_a_demo_does_not_write_to_the_hosts_of_the_config_file(zktop: Run, tmp_path: Path) -> None:
    """They are watched every day; only --hosts, ZKTOP_HOSTS and --cluster name one for a demo."""
    folder = tmp_path / "zktop"
    folder.mkdir()
    (folder / "config.yaml").write_text("hosts: zk1.bank.example:2281\ntls: {}\n", "utf-8")

    code, out, err = zktop("demo", "--text", "--duration", "1s")

    assert code == 0, err
    assert err.startswith("a sandbox server for this demo is on 127.0.0.1:")
    assert "bank" not in out + err
