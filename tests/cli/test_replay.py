"""`zktop replay`: the errors that end it before the UI starts."""

from collections.abc import Callable
from pathlib import Path

from output.stories import recorded
from ui.example_past import moments

Zktop = Callable[..., tuple[int, str, str]]


def test_without_a_terminal_it_suggests_snapshot(zktop: Zktop, tmp_path: Path) -> None:
    """One sentence with the command to type instead, and the exit code of a wrong usage."""
    file = recorded(tmp_path / "a.zktop", *moments())

    code, out, err = zktop("replay", str(file))

    assert (code, out) == (2, "")
    assert f"`zktop snapshot --from {file}`" in err


def test_a_file_that_is_not_a_recording_is_refused(zktop: Zktop, tmp_path: Path) -> None:
    """One sentence that names the file."""
    file = tmp_path / "a.txt"
    file.write_text("hello")

    code, out, err = zktop("replay", str(file))

    assert (code, out) == (2, "")
    assert err == f"{file} is not a zktop recording: it has no valid first line.\n"


def test_a_missing_file_is_refused(zktop: Zktop, tmp_path: Path) -> None:
    """One sentence that names it."""
    code, _, err = zktop("replay", str(tmp_path / "none"))

    assert code == 2
    assert err == f"{tmp_path / 'none'} cannot be read: No such file or directory.\n"
