"""A period as Markdown: the same sentences as the screens, and nothing that a name can add."""

import re

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from output.period.periods import HOSTILE, hostile_period, incident_period

from zktop.output.period import markdown
from zktop.output.period.words import document


def test_it_has_the_verdict_the_end_and_the_sums() -> None:
    """Of the shipped incident."""
    text = "\n".join(markdown.lines(document(incident_period().period)))

    assert "## Deadlock #1 (cycle, confirmed)" in text
    assert "bob waits for /locks/traffic/orders." in text
    assert "How it ended: bob gave up or closed its session." in text
    assert "| bob (127.0.0.1:41804) | 44.7s | 42.5s |" in text
    assert "* 100 % of the time." in text


def test_a_wait_that_a_killed_client_ended_is_not_called_giving_up() -> None:
    """Nor is each node of one expired session an expiry."""
    text = "\n".join(markdown.lines(document(incident_period().period)))

    assert "| failed waits | deadlocks | expired nodes |" in text


def test_findings_that_are_left_out_count() -> None:
    """A long period names the worst ones, but counts all."""
    period = replace(incident_period().period, findings_left_out=250)
    own = sum(one.follows_from is None for one in period.findings)

    assert f", {own + 250} other findings." in document(period).summary


def test_names_of_znodes_and_clients_stay_text() -> None:
    """Whatever Markdown or HTML would interpret is escaped, and tables keep their columns."""
    lines = list(markdown.lines(document(hostile_period().period)))

    assert any(HOSTILE[:4] in line.replace("\\", "") for line in lines)
    assert not re.search(r"(?<!\\)[<>`\[\]]", "\n".join(lines))
    for head, *rows in (table.splitlines() for table in tables("\n".join(lines))):
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {head.count("|")}


@pytest.mark.parametrize(
    "name",
    [
        "https://evil.example/x",
        "WWW.evil.example",
        "ops@evil.example",
        "WWW.example.org",
        "ops@example.org",
    ],
)
def test_an_address_in_a_name_does_not_become_a_link(name: str) -> None:
    """GitHub and others turn bare addresses into links."""
    html = MarkdownIt("gfm-like").render(markdown.plain(name))

    assert html == f"<p>{name}</p>\n"


def tables(text: str) -> list[str]:
    """The tables of a document."""
    return re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
