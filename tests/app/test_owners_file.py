"""The file with owners is read again when it changes."""

import os
from pathlib import Path

import pytest
from waiting import eventually

from zktop.app import owners_file
from zktop.app.owners_file import OwnersFile


@pytest.fixture(autouse=True)
def _always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners_file, "LOOK_EVERY_S", 0.0)


def replace(file: Path, text: str) -> None:
    """As `mv` does."""
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


@pytest.mark.parametrize("text", ['{"10.0.0.1": "pod-1"}', "10.0.0.1: pod-1\n"])
def test_it_is_json_or_yaml(tmp_path: Path, text: str) -> None:
    """A script writes JSON, a person YAML. It is read once."""
    (tmp_path / "owners").write_text(text, encoding="utf-8")
    file = OwnersFile(str(tmp_path / "owners"))

    assert [fact.owners for fact in file.changes()] == [{"10.0.0.1": "pod-1"}]
    assert file.changes() == []


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    """Also if it has the same size and the same time."""
    path = tmp_path / "pods.json"
    replace(path, '{"10.0.0.1": "pod-1"}')
    file = OwnersFile(str(path))
    file.changes()
    before = path.stat()
    replace(path, '{"10.0.0.1": "pod-2"}')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert [fact.owners for fact in file.changes()] == [{"10.0.0.1": "pod-2"}]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (None, "cannot be read: No such file or directory"),
        ('{"10.0.0.1": {"pod": "a"}}', "10.0.0.1: the key name is missing"),
        ("10.0.0.1: 7\n", "10.0.0.1: expected text, got a number (put it in quotes)"),
        ("10.0.0.1: [", "is not valid YAML"),
        ("", "is empty; for no names write {}"),
        ("\n", "is empty; for no names write {}"),
    ],
)
def test_a_broken_file_keeps_the_last_list(tmp_path: Path, text: str | None, note: str) -> None:
    """A note says what is wrong, until it is mended."""
    path = tmp_path / "owners.yaml"
    replace(path, "10.0.0.1: pod-1\n")
    file = OwnersFile(str(path))
    file.changes()
    if text is None:
        path.unlink()
    else:
        replace(path, text)

    assert file.changes() == []
    assert note in file.note
    replace(path, "10.0.0.1: pod-3\n")
    assert file.changes()
    assert file.note == ""


def test_a_file_in_a_home_that_does_not_exist_is_a_note() -> None:
    """As any other file that is not there."""
    file = OwnersFile("~no-such-user/owners.yaml")

    assert file.changes() == []
    assert "~no-such-user/owners.yaml: cannot be read: No such file or directory" in file.note


def test_a_file_is_read_again_after_chmod(tmp_path: Path) -> None:
    """Which changes neither its size nor the time of its content."""
    path = tmp_path / "pods.json"
    path.write_text('{"10.0.0.1": "pod-1"}', encoding="utf-8")
    file = OwnersFile(str(path))
    file.changes()
    eventually(lambda: _has_new_ctime(path))

    assert file.changes()


def _has_new_ctime(path: Path) -> bool:
    """Change the mode; the clock of a file system may be coarse."""
    before = path.stat().st_ctime_ns
    path.chmod(0o600)
    return path.stat().st_ctime_ns > before


@pytest.mark.parametrize("end", ["", ', "10.0.0.1": null}'])
def test_a_broken_large_file_names_the_mistake(tmp_path: Path, end: str) -> None:
    """And not its size, which only YAML limits."""
    pods = ", ".join(f'"10.0.{number}": "pod"' for number in range(20_000))
    path = tmp_path / "pods.json"
    path.write_text("{" + pods + end, encoding="utf-8")
    file = OwnersFile(str(path))

    assert file.changes() == []
    assert f"{path}: is not valid JSON (" in file.note
