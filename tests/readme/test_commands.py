"""Every command in README and the guides beside it runs as printed, against a sandbox."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from readme.tls_proxy import secured
from servers import sandbox_server
from tmux import ZKTOP, terminal
from txnlog.log_writer import story

from zktop.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDES = (README, ROOT / "docs" / "demos.md", ROOT / "docs" / "recording.md")
LINKED = (*GUIDES, ROOT / "ARCHITECTURE.md", ROOT / "docs" / "findings.md")
LOCK = "/zktop-demo/lock"
CONTENDING = ("contend", "kazoo-lock", LOCK, "--count", "2")
FIRST_SCREEN = "worst first"
SCREENS = {
    None: FIRST_SCREEN,
    "demo": "╭─ Learn",
    "replay": "At the cursor",
    "findings": "╭─ Deadlocks",
}


def printed(guide: Path) -> Iterator[str]:
    """The code lines of a guide, without their comments."""
    for line in guide.read_text(encoding="utf-8").splitlines():
        if re.match(r"    (zktop|make)\b", line):
            yield re.split(r" {2,}", line.strip())[0]


COMMANDS_PRINTED = tuple(dict.fromkeys(line for guide in GUIDES for line in printed(guide)))
ZKTOPS = [shlex.split(line)[1:] for line in COMMANDS_PRINTED if line.startswith("zktop")]


def name_of(words: list[str]) -> str | None:
    """The command, or the screen to open; None for the UI at its first one."""
    return words[0] if words[0] in {*COMMANDS, *SCREENS} else None


def opens_a_screen(words: list[str]) -> bool:
    """True if the command opens the UI."""
    return name_of(words) in SCREENS and "--show-config" not in words


@pytest.fixture(scope="module")
def hosts() -> Iterator[str]:
    """A server with a lock."""
    with sandbox_server() as server:
        command = [*ZKTOP, *CONTENDING, "--hosts", server.address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as contenders:
            assert contenders.stdout
            next(line for line in contenders.stdout if "acquired" in line)
            yield server.address
            contenders.terminate()
            contenders.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder of a user, with a recording in it."""
    home = tmp_path_factory.mktemp("home")
    shutil.copy(ROOT / "docs" / "incident.zktop", home)
    (home / "version-2").mkdir()
    (home / "version-2" / "log.1").write_bytes(story().bytes())
    return home


@pytest.fixture(scope="module")
def tls_port(hosts: str, folder: Path) -> Iterator[str]:
    """The address of the same server over TLS; its certificates are in the folder."""
    with secured(hosts, folder) as address:
        yield address


def adapted(words: list[str], hosts: str, tls: str) -> list[str]:
    """The same command with the test's server, and with shorter waits."""
    line = shlex.join(words)
    line = line.replace("zk1:2281", tls)
    line = re.sub(r"zk\d:2181(,zk\d:2181)*", hosts, line)
    line = line.replace("--port 2181", "--port 0")
    line = re.sub(r"(--duration|--hold) \d+s", r"\1 1s", line)
    line = line.replace("--dir ", "--duration 1s --dir ")
    return shlex.split(line)


def environment(folder: Path, hosts: str) -> dict[str, str]:
    """The environment of a user whose only setting is the server."""
    return {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "ZKTOP_HOSTS": hosts}


def test_there_are_commands_to_test() -> None:
    """README has code blocks with commands, those of `make` first."""
    lines = [*printed(README)]
    names = {name_of(shlex.split(line)[1:]) for line in lines if line.startswith("zktop")}

    assert lines[:2] == ["make demo", "make test"]
    assert names >= {None, "demo", "check", "replay", "contend"}


WITHOUT_SCREEN = [one for one in ZKTOPS if not opens_a_screen(one)]
ENDLESS = {"sandbox"}


@pytest.mark.parametrize(
    "words", [one for one in WITHOUT_SCREEN if one[0] not in ENDLESS], ids=" ".join
)
def test_a_command_runs_as_printed(
    words: list[str], hosts: str, folder: Path, tls_port: str
) -> None:
    """It exits well and prints something; the recorded incident has a deadlock."""
    command = [*ZKTOP, *adapted(words, hosts, tls_port)]
    variables = os.environ | environment(folder, hosts)
    ran = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=60, check=False
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout or {"-o", "--dir"} & {*words} or words[0] == "events"


@pytest.mark.parametrize(
    "words", [one for one in WITHOUT_SCREEN if one[0] in ENDLESS], ids=" ".join
)
def test_a_server_runs_as_printed(words: list[str], hosts: str, folder: Path) -> None:
    """It prints its address, and ctrl-c ends it."""
    command = [*ZKTOP, *adapted(words, hosts, hosts)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        said = server.stdout.readline()
        server.send_signal(signal.SIGINT)

        assert server.wait(60) == 130
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", said)


@pytest.mark.parametrize("words", [one for one in ZKTOPS if opens_a_screen(one)], ids=" ".join)
def test_a_screen_opens_as_printed(
    words: list[str], hosts: str, folder: Path, tls_port: str
) -> None:
    """It connects, shows its first screen, and q ends it."""
    command = [*ZKTOP, *adapted(words, hosts, tls_port)]
    variables = environment(folder, hosts)
    if name_of(words) == "demo":  # it starts its own server, and asks before it uses another
        del variables["ZKTOP_HOSTS"]
    with terminal("env", "-C", str(folder), *command, environment=variables) as screen:
        screen.until(SCREENS[name_of(words)])
        screen.until("REPLAY" if words[0] == "replay" else "LIVE")
        screen.press("q")
        screen.until(lambda _text: screen.exit_code is not None)

        assert screen.exit_code == 0


@pytest.mark.parametrize(
    "line", [line for line in COMMANDS_PRINTED if line.startswith("make")], ids=str
)
def test_a_target_of_make_exists(line: str) -> None:
    """`make -n` knows the target."""
    command = [*shlex.split(line), "--dry-run", f"PYTHON={sys.executable}"]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )

    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("guide", LINKED, ids=lambda guide: guide.name)
def test_links_and_pictures_lead_somewhere(guide: Path) -> None:
    """Every linked file exists, and has the heading if the link names one."""
    targets = re.findall(r"\]\(([^)\s]+)\)", guide.read_text(encoding="utf-8"))

    assert targets or guide.name == "findings.md"
    assert [one for one in targets if "://" not in one and not leads_somewhere(guide, one)] == []


def leads_somewhere(guide: Path, target: str) -> bool:
    """True if the file exists, and one of its headings has the name after `#`, if there is one."""
    name, _, heading = target.partition("#")
    file = guide.parent / name if name else guide
    if not (file.exists() and heading):
        return file.exists()
    titles = re.findall(r"^#+ (.*)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_folder_and_file_that_is_named_exists() -> None:
    """Every path in code marks exists."""
    text = README.read_text(encoding="utf-8")
    named = re.findall(r"`((?:zktop|themes|docs|tests|\.ci)/[\w./-]*)`", text)

    assert named
    assert [one for one in named if not (ROOT / one).exists()] == []


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_lines_fit(guide: Path) -> None:
    """No line is too long, except for table rows, which cannot be wrapped."""
    lines = guide.read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_the_custom_layout_works(tmp_path: Path) -> None:
    """The config examples load, and the layout recognises its names."""
    text = README.read_text(encoding="utf-8")
    config = tmp_path / "config.yaml"
    config.write_text("".join(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)), "utf-8")
    command = [*ZKTOP, "layouts", "--config", config, "job-7-r-0000000007"]

    assert subprocess.check_output(command, text=True).startswith("our-jobs ")
