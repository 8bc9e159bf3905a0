"""The page of HTML: text stays text, nothing is loaded, and every moment shows its queues."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from browser import Browser, browser
from msgspec.structs import replace
from output.metrics.scrapes import INCIDENT
from output.period.periods import HOSTILE, HOSTILE_LOCK, hostile_period, incident_period

from zktop.app.replay import Replay
from zktop.model.report import Report
from zktop.model.text import clean
from zktop.output.period.html_page import page
from zktop.output.period.period import PeriodSummary
from zktop.output.period.words import RingEdge, WordTable, document

KILOBYTE = 1024
ROWS = """[...document.querySelectorAll("table[aria-labelledby=queues] tbody tr")].map((row) =>
    [row.cells[0].textContent, +row.cells[1].textContent,
     [...row.querySelectorAll(".holds")].map((chip) => chip.textContent.split(" ")[1]),
     [...row.querySelectorAll(".waits")].map((chip) => chip.textContent.split(" ")[1])])"""


def html(found: PeriodSummary) -> str:
    """The page of a period."""
    return page(document(found.period), found.timeline, "zktop 0.1.0").decode()


def data_of(text: str) -> str:
    """The JSON in a page."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text)
    assert found
    return found[1]


def test_a_name_cannot_end_the_script_element() -> None:
    """The JSON of a hostile period has no `<`, and still has the name."""
    data = data_of(html(hostile_period()))

    assert "<" not in data
    assert HOSTILE in json.loads(data)["words"]["title"]


def test_it_loads_nothing_and_is_small() -> None:
    """It has no address but the names of namespaces, and no link, picture or frame."""
    text = html(incident_period())

    assert set(re.findall(r"\w+://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(?:link|img|iframe|object)|\b(?:src|href)=|url\((?!#)|@import", text)
    assert "default-src 'none'" in text
    assert len(text) < 64 * KILOBYTE


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    """One browser for all tests of this module."""
    with browser() as opened:
        yield opened


def opened(tab: Browser, found: PeriodSummary, folder: Path) -> dict[str, Any]:
    """Open the page of a period from disk; return the JSON in it."""
    file = folder / "report.html"
    file.write_text(html(found), encoding="utf-8")
    tab.open(file)
    tab.until("document.querySelector('footer')")
    return json.loads(data_of(html(found)))


def troubles(tab: Browser) -> list[object]:
    """Errors and exceptions of the page, and requests for anything but the file."""
    requests = [
        event["params"]
        for event in tab.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    elsewhere = [
        request["request"]["url"] for request in requests if request["type"] != "Document"
    ]
    kinds = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
    return elsewhere + [event["params"] for event in tab.events if event.get("method") in kinds]


@pytest.mark.chromium
def test_hostile_names_are_shown_as_they_are(tab: Browser, tmp_path: Path) -> None:
    """They add no element and run nothing."""
    opened(tab, hostile_period(), tmp_path)

    assert HOSTILE in tab.evaluate("document.querySelector('h1').textContent")
    locks = tab.evaluate("[...document.querySelectorAll('td.path')].map((one) => one.textContent)")
    assert clean(HOSTILE_LOCK) in locks
    assert tab.evaluate("document.title") != "owned"
    assert tab.evaluate("document.querySelectorAll('img, a, iframe').length") == 0
    assert tab.evaluate("document.querySelectorAll('script').length") == 2
    assert troubles(tab) == []


@pytest.mark.chromium
def test_the_verdicts_are_there_in_words_and_as_a_ring(tab: Browser, tmp_path: Path) -> None:
    """With each sentence of the document, and a box for each client of the deadlock."""
    words = opened(tab, incident_period(), tmp_path)["words"]
    text = " ".join(tab.evaluate("document.body.textContent").split())

    (deadlock,) = words["deadlocks"]
    said = [words["summary"], deadlock["sentence"], *deadlock["steps"], *words["seen"]]
    said += [one["sentence"] for one in words["findings"]]
    assert [one for one in said if one not in text] == []
    boxes = "[...document.querySelectorAll('.deadlock svg text')].map((one) => one.textContent)"
    assert {"ann", "bob", "wants /locks/traffic/stock"} <= set(tab.evaluate(boxes))
    assert troubles(tab) == []


@pytest.mark.chromium
@pytest.mark.parametrize("clients", range(2, 9))
@pytest.mark.parametrize("width", [390, 1280])
def test_a_ring_can_be_read(clients: int, width: int, tab: Browser, tmp_path: Path) -> None:
    """No label covers a client, is cut, or is too small: also on a phone, with long paths."""
    found = incident_period()
    words = document(found.period)
    edges = [
        RingEdge(f"philosopher{one}", f"/demo/philosophers/fork{one}", (one + 1) % clients)
        for one in range(clients)
    ]
    ring = replace(words.deadlocks[0], ring=edges)
    file = tmp_path / "report.html"
    file.write_bytes(page(replace(words, deadlocks=[ring]), found.timeline, "zktop 0.1.0"))
    tab.resize(width, 900)
    tab.open(file)
    tab.until("document.querySelector('footer')")

    assert tab.evaluate("document.querySelectorAll('.deadlock rect').length") == clients
    assert (
        tab.evaluate("""(() => {
        const all = (what) => [...document.querySelectorAll(`.deadlock ${what}`)];
        const place = (one) => one.getBBox();
        const labels = all("text").filter((one) => one.querySelector("tspan")).map(place);
        const meets = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width
            && a.y < b.y + b.height && b.y < a.y + a.height;
        const covered = (box) => labels.some((one) => meets(one, box));
        return all("rect").map(place).filter(covered).length;
    })()""")
        == 0
    )
    assert (
        tab.evaluate("""(() => {
        const edge = document.querySelector(".deadlock svg").getBoundingClientRect();
        const labels = [...document.querySelectorAll(".deadlock svg text")];
        const isBad = (one) => one.left < edge.left || one.right > edge.right
            || one.top < edge.top || one.bottom > edge.bottom;
        const small = (one) => parseFloat(getComputedStyle(one).fontSize)
            * edge.width / one.ownerSVGElement.viewBox.baseVal.width < 10;
        return labels.filter((one) => isBad(one.getBoundingClientRect()) || small(one)).length;
    })()""")
        == 0
    )


@pytest.mark.chromium
def test_the_tables_fit_a_desktop(tab: Browser, tmp_path: Path) -> None:
    """A column behind the right edge is easily missed."""
    tab.resize(1280, 900)
    opened(tab, incident_period(), tmp_path)
    widths = (
        "[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth - one.clientWidth)"
    )

    assert set(tab.evaluate(widths)) == {0}


@pytest.mark.chromium
def test_the_scrubber_shows_the_queues_of_the_recording(tab: Browser, tmp_path: Path) -> None:
    """At moments all over the incident: each lock with waiters, its holders and its queue."""
    opened(tab, incident_period(), tmp_path)
    timeline = incident_period().timeline
    begin, step = timeline.since, timeline.step
    moments = iter(range(0, (timeline.until - begin) // step, 35))

    moment, compared = next(moments), 0
    for before, after in pairwise(Replay(INCIDENT).reports()):
        while after.now > begin + moment * step:  # until then nothing changes
            tab.evaluate(f"scrubber.value = {moment}; scrubber.dispatchEvent(new Event('input'))")
            assert sorted(tab.evaluate(ROWS)) == queues(before)
            moment, compared = next(moments, 1 << 32), compared + 1
    assert compared > 20


def queues(report: Report) -> list[list[object]]:
    """The rows of a moment, by path: the locks for which clients wait."""
    return [
        [
            view.lock.path,
            len(list(view.waiters)),
            [holder.name for holder in view.holders],
            [waiter.name for waiter in view.waiters],
        ]
        for view in report.views
        if any(True for _ in view.waiters)
    ]


@pytest.mark.chromium
def test_the_time_line_says_when_it_begins_and_ends(tab: Browser, tmp_path: Path) -> None:
    """Also on paper, which has nothing to drag; and what is grey, if anything is."""
    period = opened(tab, incident_period(), tmp_path)["words"]["period"]
    tab.prefers(media="print")
    ends = tab.evaluate("document.querySelector('.ends').innerText").split("\n")
    shown = tab.evaluate("document.body.innerText")
    tab.prefers()

    assert [one.partition(" ")[2] for one in ends if one] == re.findall(r"[\d:]+Z", period)
    assert ("red is a deadlock." in shown, "arrow keys" in shown) == (True, False)


@pytest.mark.chromium
def test_the_letters_of_modes_are_explained(tab: Browser, tmp_path: Path) -> None:
    """Those that occur: the incident has no semaphore."""
    opened(tab, incident_period(), tmp_path)

    assert "\nX exclusive, R read, W write.\n" in tab.evaluate("document.body.innerText")


@pytest.mark.chromium
def test_nothing_is_shown_of_a_time_that_was_not_seen(tab: Browser, tmp_path: Path) -> None:
    """It is shaded, and the queue from before it is not shown there."""
    found = incident_period()
    timeline = found.timeline
    unseen = msgspec.structs.replace(timeline, unseen=[(0, timeline.until - timeline.since - 1)])
    opened(tab, found._replace(timeline=unseen), tmp_path)

    tab.evaluate("scrubber.value = 200; scrubber.dispatchEvent(new Event('input'))")

    text = "scrubber.getAttribute('aria-valuetext')"
    assert tab.evaluate(text).endswith(", nothing is known of this time")
    assert tab.evaluate(ROWS) == []
    titles = "[...document.querySelectorAll('#graph rect title')].map((one) => one.textContent)"
    assert tab.evaluate(titles)[-1] == "not seen"
    assert troubles(tab) == []


@pytest.mark.chromium
def test_the_scrubber_needs_no_mouse(tab: Browser, tmp_path: Path) -> None:
    """Arrow keys, Home and End move it, and it says the moment; so do buttons to an event."""
    opened(tab, incident_period(), tmp_path)
    value = "scrubber.getAttribute('aria-valuetext')"
    tab.evaluate("scrubber.focus()")

    tab.press("Home")
    assert tab.evaluate(value) == "05:51:20.2Z, no client waits"
    tab.press("ArrowRight")
    assert tab.evaluate("scrubber.value") == "1"
    next_event = (
        "[...document.querySelectorAll('button')].find((one) => one.textContent == 'Next event')"
    )
    tab.evaluate(f"{next_event}.focus()")
    tab.press("Enter")
    assert tab.evaluate(value).startswith("05:51:37.")
    heard = tab.evaluate("document.querySelector('[role=status]').textContent")
    assert heard.startswith("05:51:37.")
    assert "Deadlock #1" in heard
    assert "Deadlock #1" in tab.evaluate("document.querySelector('main').textContent")


@pytest.mark.chromium
def test_it_has_a_light_a_dark_and_a_printed_form(tab: Browser, tmp_path: Path) -> None:
    """The colours follow what the reader prefers; paper has no buttons."""
    opened(tab, incident_period(), tmp_path)
    colour = "getComputedStyle(document.body).backgroundColor"
    controls = "getComputedStyle(document.querySelector('.controls')).display"

    tab.prefers(color_scheme="light")
    light = tab.evaluate(colour)
    tab.prefers(color_scheme="dark")
    assert tab.evaluate(colour) != light
    tab.prefers(media="print", color_scheme="dark")
    assert tab.evaluate(colour) == "rgb(255, 255, 255)"
    assert tab.evaluate(controls) == "none"


@pytest.mark.chromium
def test_printed_tables_are_whole(tab: Browser, tmp_path: Path) -> None:
    """On the screen, the rest of a long table is shown by a button."""
    found = incident_period()
    table = WordTable("Clients", "", ("client",), [((f"c{n}", None),) for n in range(40)])
    file = tmp_path / "report.html"
    file.write_bytes(page(replace(document(found.period), tables=[table]), found.timeline, "t"))
    tab.open(file)
    tab.until("document.querySelector('footer')")
    rows = "[...document.querySelectorAll('td.path')].filter((one) => one.textContent[0] == 'c')"
    printing = "window.dispatchEvent(new Event('{}'))"

    assert tab.evaluate(f"{rows}.length") == 25
    tab.evaluate(printing.format("beforeprint"))
    assert tab.evaluate(f"{rows}.length") == 40
    tab.evaluate(printing.format("afterprint"))
    assert tab.evaluate(f"{rows}.length") == 25


@pytest.mark.chromium
def test_a_sign_stays_on_the_line_of_its_number(tab: Browser, tmp_path: Path) -> None:
    """On paper, columns of figures are narrow."""
    found = incident_period()
    table = WordTable("Clients", "", ("client", "max"), [(("ann", None), ("≥ 22s", 22.0))])
    words = replace(document(found.period), tables=[table])
    file = tmp_path / "report.html"
    file.write_bytes(page(words, found.timeline, "zktop 0.1.0"))
    tab.open(file)
    tab.until("document.querySelector('footer')")

    assert tab.evaluate("document.querySelector('td.number:last-child').textContent") == "≥\xa022s"


@pytest.mark.chromium
def test_a_click_on_a_head_sorts_its_column(tab: Browser, tmp_path: Path) -> None:
    """The most first, then the least."""
    opened(tab, incident_period(), tmp_path)
    waited = """[...document.querySelectorAll("section:nth-of-type(4) tbody tr td:nth-child(4)")]
        .map((cell) => parseFloat(cell.textContent))"""
    heads = "[...document.querySelectorAll('th button')]"
    tab.evaluate(f"{heads}.find((head) => head.textContent == 'waited').focus()")

    tab.press("Enter")
    found = tab.evaluate(waited)
    assert found == sorted(found, reverse=True)
    tab.press("Enter")
    assert tab.evaluate(waited) == sorted(found)
