"""Layouts in the config: valid ones are accepted, and those that cannot work are refused."""

from pathlib import Path

import pytest
from config.config_of import config_of

from zktop.config.check_layouts import layout_mistakes
from zktop.config.mistakes import ConfigError
from zktop.model.layouts.layout import Layout
from zktop.model.locks.shapes import LAYOUTS

VALID = [  # as users write them
    (
        "{ name: our-jobs, pattern: '^job-(?P<id>\\w+)-(?P<mode>[rw])-(?P<seq>-?\\d{9,10})$',"
        " modes: { r: read, w: write }, watch: nearest }"
    ),
    "{ name: plain, pattern: '^x-{SEQ}$' }",
    "{ name: with.uuid_1, pattern: '^{U36}-(?P<id>{H32})-{SEQ}$' }",
    "{ name: words, pattern: '(?P<mode>rd|wr)-{SEQ}', modes: { rd: read, wr: write } }",
    "{ name: spare, pattern: '(?P<mode>[rw])-{SEQ}', modes: { r: read, w: write, x: write } }",
    "{ name: any-mode, pattern: '^(?P<mode>\\w)-{SEQ}$', modes: { r: read, w: write } }",
    "{ name: one, pattern: '^leader$', kind: single }",
    "{ name: by-name, pattern: '^job-.+$', order: name }",
    "{ name: by-arrival, pattern: '^job-.+$', order: arrival }",
    "{ name: braces, pattern: '^\\{(?P<id>\\w+)\\}-x{2}-y{1,3}-{SEQ}$' }",
    "{ name: grouped, pattern: '^(?P<name>\\w+)-{SEQ}$', grouped: true }",
]
WRONG = [
    "{ name: x, pattern: '^job-{SEK}$' }",
    "{ name: x, pattern: '^job-(?P<idd>.+)-{SEQ}$' }",
    "{ name: x, pattern: '^job$' }",
    "{ name: x, pattern: '^(?P<mode>[rw])-{SEQ}$', modes: { r: read } }",
    "{ name: x, pattern: '^job-{SEQ}$', modes: { r: read } }",
    "{ name: x, pattern: '^job-({SEQ}$' }",
    "{ name: x, pattern: '(?u)^job-{SEQ}$' }",
    "{ name: x, pattern: '^job-{SEQ}$', unseen: '^x-{SEK}$' }",
]


def config_file(folder: Path, layout: str) -> str:
    """A config file with this layout in its third line."""
    file = folder / "c.yaml"
    file.write_text(f"# ours\nlayouts:\n  - {layout}\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("layout", VALID)
def test_a_layout_that_can_work_is_accepted(tmp_path: Path, layout: str) -> None:
    """With any combination of keys that makes sense."""
    assert len(config_of(config_file(tmp_path, layout)).layouts) == 1


@pytest.mark.parametrize("layout", WRONG)
def test_a_layout_that_cannot_work_is_refused(tmp_path: Path, layout: str) -> None:
    """With the file, the line and the key."""
    file = config_file(tmp_path, layout)

    with pytest.raises(ConfigError) as refusal:
        config_of(file)

    (message,) = str(refusal.value).splitlines()
    keys = ("pattern", "modes", "unseen")
    assert message.startswith(tuple(f"{file}:3: layouts[0].{key}: " for key in keys))


def test_all_mistakes_of_a_layout_are_listed(tmp_path: Path) -> None:
    """So that the user can correct the file in one go."""
    file = config_file(tmp_path, "{ name: x, pattern: '^(?P<idd>.+)-{SEK}-{H36}$' }")

    with pytest.raises(ConfigError) as refusal:
        config_of(file)

    assert [line.partition("pattern: ")[2] for line in str(refusal.value).splitlines()] == [
        "unknown macro {SEK} (did you mean {SEQ}?)",
        "unknown macro {H36} (did you mean {U36}?)",
        'unknown group "idd" (did you mean id?)',
    ]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_the_built_in_layouts_obey_the_same_rules(layout: Layout) -> None:
    """So that users can start from a copy of one."""
    assert list(layout_mistakes(layout)) == []
