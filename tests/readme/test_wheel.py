"""The wheel runs without the clone: themes, layouts, scenes and recipes are inside."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from servers import RunningServer, sandbox_server
from tmux import terminal

ROOT = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
THEMES = sorted(each.stem for each in (ROOT / "themes").glob("*.yaml"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, as pipx or uvx makes one; built without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run(build, check=True, timeout=100)
    (wheel,) = folder.glob("zktop-*.whl")
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    into = [*PIP, "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(into, check=True, timeout=100)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder / "venv"


@pytest.fixture
def zktop(installed: Path, tmp_path: Path) -> Callable[..., str]:
    """Run the installed zktop; return its output."""
    variables = os.environ | {"XDG_CONFIG_HOME": str(tmp_path)}

    def run(*words: str) -> str:
        command = [installed / "bin" / "zktop", *words]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        ran = subprocess.run(
            command, cwd=tmp_path, env=variables, timeout=60, check=False, **streams
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


def test_the_installed_package_is_imported(installed: Path) -> None:
    """It is not the clone, which is importable for the tests."""
    command = [installed / "bin" / "python", "-c", "import zktop; print(zktop.__file__)"]
    said = subprocess.check_output(command, cwd="/", text=True)

    assert Path(said.strip()).is_relative_to(installed)


def test_man_finds_the_page(installed: Path) -> None:
    """It is where man looks for the pages of a program, next to its folder bin."""
    page = installed / "share" / "man" / "man1" / "zktop.1"

    assert page.read_bytes() == (ROOT / "docs" / "man" / "zktop.1").read_bytes()


def test_it_has_no_compiled_code(installed: Path) -> None:
    """It needs no compiler."""
    package = next(installed.rglob("site-packages/zktop"))

    assert [*package.rglob("*.so"), *package.rglob("*.c")] == []


def test_commands_find_their_data(zktop: Callable[..., str]) -> None:
    """The version, the layouts, the scenes, the recipes, the schema, the config file, the page."""
    assert zktop("--version").startswith("zktop ")
    assert "curator" in zktop("layouts")
    assert "philosophers" in zktop("scene", "--list")
    assert "get-watch" in zktop("contend", "--list")
    assert "zktop.snapshot/1" in zktop("schema", "snapshot")
    assert zktop("config", "init").startswith("wrote ")
    incident = str(ROOT / "docs" / "incident.zktop")
    assert "<html" in zktop("report", "--from", incident, "--format", "html")


def test_the_demo_runs(zktop: Callable[..., str]) -> None:
    """It starts its own server and contenders as processes."""
    text = zktop("demo", "--text", "--duration", "6s")

    assert "ann" in text


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server with a lock."""
    with sandbox_server() as server:
        yield server


@pytest.mark.parametrize("theme", THEMES)
def test_the_ui_has_every_theme(
    installed: Path, server: RunningServer, tmp_path: Path, theme: str
) -> None:
    """Each theme is a file inside the wheel."""
    config = tmp_path / "config.yaml"
    config.write_text(f"ui: {{ theme: {theme} }}\n", encoding="utf-8")
    program = str(installed / "bin" / "zktop")
    command = [program, "--config", str(config), "--hosts", server.address]
    variables = {"XDG_CONFIG_HOME": str(tmp_path)}
    with terminal("env", "-C", str(tmp_path), *command, environment=variables) as screen:
        screen.until("LIVE")
        screen.press("q")
        screen.until(lambda _text: screen.exit_code is not None)

        assert screen.exit_code == 0
