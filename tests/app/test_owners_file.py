"""The file with owners is read again when it changes."""

import os
from pathlib import Path

import pytest

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
