"""Export files in every format, and copy to the clipboard."""

import json
import threading
import xml.etree.ElementTree as ET
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from textual.widgets import Input, Label
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, press_export, settled, until

from zktop.app.export_formats import ReportExports
from zktop.ui.actions.export import write_new
from zktop.ui.actions.svg_picture import portable_svg
from zktop.ui.app import Zktop
from zktop.ui.dialogs.export import FORMATS, why_refused

BEGINS = {
    "json": "{",
    "txt": "",
    "dot": "digraph",
    "mmd": "flowchart",
    "svg": "<svg",
}


def full() -> Zktop:
    """An app that can export all formats."""
    app = app_of(*trouble())
    app.visit.exports = ReportExports("zk1:2181", "/app")
    return app


async def written(app: Zktop, *keys: str, folder: Path) -> list[Path]:
    """Press keys in the dialog, and wait for the file."""
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await press_export(app, pilot, *keys)
        said = [one.message for one in app._notifications]
    files = _files(folder)
    assert [one for one in said if one.startswith("Written")] == [f"Written: {files[0]}"]
    return files


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.mark.parametrize(("number", "form"), list(enumerate(f for f in FORMATS if f != "clip")))
async def test_every_form_can_be_written(
    number: int, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the suggested name; no temporary file stays behind."""
    monkeypatch.chdir(tmp_path)
    app = full()
    files = await written(app, *["down"] * number, folder=tmp_path)
    ending = FORMATS[form][0]
    text = files[0].read_text(encoding="utf-8")

    assert [file.suffix for file in files] == [f".{ending}"]
    assert files[0].name.startswith("zktop-20")
    assert text.startswith(BEGINS[ending])
    assert "/locks/orders" in text.replace("&#160;", " ")


async def test_json_is_what_the_command_line_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole public schema."""
    monkeypatch.chdir(tmp_path)
    files = await written(full(), folder=tmp_path)
    made = json.loads(files[0].read_text())

    assert made["schema"] == "zktop.snapshot/1"
    assert (made["source"]["hosts"], made["source"]["chroot"]) == ("zk1:2181", "/app")
    assert [one["rule"] for one in made["deadlocks"]] == ["D1"]


async def test_a_written_file_leaves_no_thread_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a month of hourly exports there are as many threads as on the first day."""
    monkeypatch.chdir(tmp_path)
    before = set(threading.enumerate())
    app = full()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await press_export(app, pilot)

        await until(pilot, lambda: set(threading.enumerate()) == before, "the end of the thread")


async def test_the_picture_is_of_the_page_not_of_the_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken after the dialog has closed."""
    monkeypatch.chdir(tmp_path)
    app = app_of(*trouble())
    app.visit.exports = None  # then a picture is all that can be written
    files = await written(app, folder=tmp_path)
    drawn = "".join(ET.fromstring(files[0].read_text()).itertext()).replace("\xa0", " ")

    assert "/locks/orders" in drawn
    assert "Write a file" not in drawn


async def test_an_invalid_name_is_refused_in_the_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays open, and escape leaves it without a file."""
    monkeypatch.chdir(tmp_path)
    app = full()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        app.screen.query_one(Input).value = "none/such.json"
        await pilot.press("down", "enter")
        await settled(pilot)

        assert str(app.screen.query_one("#wrong", Label).content) == "No such directory: none"
        assert app.screen.query_one(Input).value == "none/such.json"  # what was typed stays
        await pilot.press("escape")
        await settled(pilot)
        assert len(app.screen_stack) == 1
    assert _files(tmp_path) == []


def test_existing_files_are_never_replaced(tmp_path: Path) -> None:
    """Not even one that appears while the export runs."""
    file = tmp_path / "a.json"
    file.write_text("mine")

    assert why_refused(str(file)) == f"{file} already exists. Choose another name."
    assert why_refused(str(tmp_path)) == f"{tmp_path} is a directory."
    with pytest.raises(FileExistsError):
        write_new(file, b"theirs")
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]


async def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    """Its folder was deleted in the meantime."""
    app = full()
    folder = tmp_path / "going"
    folder.mkdir()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        app.screen.query_one(Input).value = str(folder / "a.json")
        refuse = app.screen.action_accept
        refuse()
        folder.rmdir()
        await until(
            pilot,
            lambda: any("Could not" in one.message for one in app._notifications),
            "the error message",
        )
        said = [one.message for one in app._notifications]

    assert said[-1:] == [f"Could not write {folder / 'a.json'}: No such file or directory."]


async def test_y_copies_the_item_under_the_cursor() -> None:
    """By OSC 52; a message quotes what was copied."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        copied = app.page.copied()
        await pilot.press("y")
        await settled(pilot)
        said = [one.message for one in app._notifications]

    assert copied
    assert app.clipboard == copied
    assert said[-1].startswith("Copied to the terminal (OSC 52): ")


async def test_a_program_gets_what_is_copied_before_the_terminal() -> None:
    """The message says where the text is."""
    taken: list[str] = []

    def copy(text: str) -> str:
        taken.append(text)
        return "the tmux buffer"

    app = app_of(*trouble(), copy=copy)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        copied = app.page.copied()
        await pilot.press("y")
        await settled(pilot)
        said = [one.message for one in app._notifications]

    assert taken == [copied]
    assert app.clipboard == ""
    assert said[-1].startswith("Copied to the tmux buffer: ")


async def test_nothing_to_copy_is_reported() -> None:
    """An empty page has nothing under its cursor."""
    app = app_of()
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)

        assert [one.message for one in app._notifications] == ["Nothing to copy here."]


def test_a_name_in_a_deleted_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory in which zktop was started may be gone."""
    (folder := tmp_path / "gone").mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    assert why_refused("zktop.json").endswith("No such file or directory")


def test_a_picture_keeps_the_names_of_znodes() -> None:
    """Only the classes of the picture have a number that differs in each run."""
    console = Console(record=True, file=StringIO(), width=60)
    console.print("/pos/terminal-17-lock", highlight=False)
    picture = portable_svg(console.export_svg(title="zktop"))

    assert "/pos/terminal-17-lock" in picture
    assert 'class="terminal-' not in picture


async def test_a_copy_that_fails_ends_nothing() -> None:
    """A text may have characters that no program takes."""

    def copy(text: str) -> str:
        return (text + "\udcff").encode().decode()

    app = app_of(*trouble(), copy=copy)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "Copying" in app.trouble, "the error in the header")

        assert app.is_running
