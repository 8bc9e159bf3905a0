"""The wheel runs without the clone: themes, layouts, scenes and recipes are inside."""

import os
import subprocess
import sys
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
    """A folder with the package and nothing else; built without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run(build, check=True, timeout=100)
    (wheel,) = folder.glob("zktop-*.whl")
    site = folder / "site"
    into = [*PIP, "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(into, check=True, timeout=100)
    return site


@pytest.fixture
def zktop(installed: Path, tmp_path: Path) -> Callable[..., str]:
    """Run the installed zktop; return its output."""
    variables = os.environ | {"PYTHONPATH": str(installed), "XDG_CONFIG_HOME": str(tmp_path)}

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "zktop", *words]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        ran = subprocess.run(
            command, cwd=tmp_path, env=variables, timeout=60, check=False, **streams
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


def test_the_installed_package_is_imported(installed: Path) -> None:
    """It is not the clone, which is importable here too."""
    script = "import zktop; print(zktop.__file__)"
    variables = os.environ | {"PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", script]
    said = subprocess.check_output(command, env=variables, cwd="/", text=True)

    assert Path(said.strip()).is_relative_to(installed)


def test_it_has_no_compiled_code(installed: Path) -> None:
    """It needs no compiler."""
    assert [*installed.rglob("*.so"), *installed.rglob("*.c")] == []


def test_commands_find_their_data(zktop: Callable[..., str]) -> None:
    """The version, the layouts, the scenes, the recipes and the schema."""
    assert zktop("--version").startswith("zktop ")
    assert "curator" in zktop("layouts")
    assert "philosophers" in zktop("scene", "--list")
    assert "get-watch" in zktop("contend", "--list")
    assert "zktop.snapshot/1" in zktop("schema", "snapshot")


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
    command = [sys.executable, "-m", "zktop", "--config", str(config), "--hosts", server.address]
    variables = {"PYTHONPATH": str(installed), "XDG_CONFIG_HOME": str(tmp_path)}
    with terminal("env", "-C", str(tmp_path), *command, environment=variables) as screen:
        screen.until("LIVE")
        screen.press("q")
        screen.until(lambda _text: screen.exit_code is not None)

        assert screen.exit_code == 0
