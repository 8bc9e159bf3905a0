"""The output of layouts, schema, --version and --show-config."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from zktop.cli.common.output import narrate
from zktop.model.locks.shapes import LAYOUTS

Zktop = Callable[..., tuple[int, str, str]]


def test_the_version(zktop: Zktop) -> None:
    """One line: name and number."""
    code, out, err = zktop("--version")

    assert (code, err) == (0, "")
    assert out.startswith("zktop ")
    assert len(out.split()) == 2


def test_layouts_lists_all_in_80_columns(zktop: Zktop) -> None:
    """Name, kind, watch, client library, and the pattern."""
    code, out, err = zktop("layouts")

    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [
        layout.name for layout in LAYOUTS
    ]
    assert all(len(line) <= 80 for line in lines)
    assert lines[:3] == [
        "kazoo-lock                 read-write  watches nearest",
        "    kazoo: Lock, WriteLock, ReadLock, Election, SetPartitioner; tooz (Python)",
        "    ^(?P<id>{H32})__(?P<mode>r?lock)__{SEQ}$",
    ]


@pytest.mark.parametrize(
    ("names", "layouts"),
    [
        (
            ["_c_" + "0" * 8 + "-0000" * 3 + "-" + "0" * 12 + "-latch-0000000007"],
            ["curator-latch"],
        ),
        (["lock-0000000007", "lock-0000000012"], ["plain-lock"]),
        (["leader"], ["patroni"]),
        (["job-7-r-0000000007"], ["our-jobs"]),
    ],
)
def test_layouts_finds_those_that_match_names(
    zktop: Zktop, tmp_path: Path, names: list[str], layouts: list[str]
) -> None:
    """The layouts of the config first, then the certain ones, then the guesses."""
    (tmp_path / "c.yaml").write_text(
        "layouts: [{ name: our-jobs, pattern: '^job-(?P<id>.+)-r-{SEQ}$' }]", encoding="utf-8"
    )

    code, out, err = zktop("layouts", "--config", "c.yaml", *names)

    found = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    assert (code, err) == (0, "")
    assert found[: len(layouts)] == layouts
    assert set(found[len(layouts) :]) <= {"curator-custom", "named-sequence"}


def test_layouts_reports_names_without_a_match(zktop: Zktop) -> None:
    """On stderr; the matches of other names are on stdout."""
    code, out, err = zktop("layouts", "lock-0000000007", "my\x1bfile")

    assert code == 0
    assert out.startswith("plain-lock ")
    assert err == 'No known layout matches "my␛file".\n'


@pytest.mark.parametrize("what", ["snapshot", "events", "recording", "config"])
def test_schema_prints_a_schema(zktop: Zktop, what: str) -> None:
    """Valid JSON, and a valid schema that says which draft it follows."""
    code, out, err = zktop("schema", what)

    schema = json.loads(out)
    assert (code, err) == (0, "")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_notes_are_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    """Even if they repeat user input."""
    narrate("one \x1b[2J\ntwo")

    assert capsys.readouterr() == ("", "one ␛[2J\ntwo\n")


def shown(out: str) -> dict[str, tuple[str, str]]:
    """Parse the table of --show-config."""
    columns = [out.index(word) for word in ("VALUE", "FROM")]
    return {
        line[: columns[0]].strip(): (
            line[columns[0] : columns[1]].strip(),
            line[columns[1] :].strip(),
        )
        for line in out.splitlines()[1:]
    }


def test_show_config_prints_values_and_origins(
    zktop: Zktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From all four sources, in aligned columns."""
    (tmp_path / "c.yaml").write_text("thresholds:\n  settle: 500ms\nhosts: a\n", encoding="utf-8")
    monkeypatch.setenv("ZKTOP_HOSTS", "zk1:2181, zk2:2181")
    monkeypatch.setenv("ZKTOP_CONFIG", "c.yaml")

    code, out, err = zktop("--root", "/locks/**", "--tls-no-verify", "--show-config")

    table = shown(out)
    assert (code, err) == (0, "")
    assert table["config"] == ("c.yaml", "environment ZKTOP_CONFIG")
    assert table["hosts"] == ("zk1:2181,zk2:2181", "environment ZKTOP_HOSTS")
    assert table["roots[0]"] == ("/locks/**", "command line")
    assert table["tls.verify"] == ("false", "command line")
    assert table["thresholds.settle"] == ("500ms", "c.yaml:2")
    assert table["ui.theme"] == ("zktop-night", "default")


def test_show_config_masks_secrets(zktop: Zktop) -> None:
    """Of every option that takes one."""
    code, out, _ = zktop(
        "--auth", "digest:me:s3cret", "--sasl", "DIGEST-MD5:me:s3:cret", "--show-config"
    )

    table = shown(out)
    assert code == 0
    assert "cret" not in out
    assert table["auth[0]"] == ("digest:****", "command line")
    assert table["sasl.username"] == ("me", "command line")
    assert table["sasl.password"] == ("****", "command line")


def test_the_command_line_names_another_config_than_the_environment(
    zktop: Zktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the option is before the command."""
    (tmp_path / "c.yaml").write_text(
        "layouts: [{ name: mine, pattern: '^my-{SEQ}$' }]", encoding="utf-8"
    )
    monkeypatch.setenv("ZKTOP_CONFIG", "missing.yaml")

    assert zktop("layouts", "--config", "c.yaml", "my-0000000001")[1].startswith("mine ")
    assert zktop("--config", "c.yaml", "layouts", "my-0000000001")[1].startswith("mine ")
