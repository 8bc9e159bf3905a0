"""Screen 4: servers, sessions and their risks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    connections,
    expiry,
    figures,
    lock,
    no_connections,
    no_watches,
    out,
    own,
    row,
    session,
    watches,
)
from msgspec.structs import replace
from output.stories import facts
from textual.pilot import Pilot
from ui.example_ensemble import read_whole
from ui.example_queues import ORDERS, page_on
from ui.fake_feed import app_of, frames, panel, settled

from zktop.model.facts import AnyFact, OwnerNames, Server, ServerState
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame
from zktop.ui.past.contacts_and_packet_rates import PacketRates, RecentContacts, recent_contacts
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.server_state import OUTAGES, outage
from zktop.ui.screens.sessions.contact_bar import contact_strip, silence_bar
from zktop.ui.screens.sessions.directory import SessionDirectory
from zktop.ui.screens.sessions.if_it_dies import behind_it
from zktop.ui.screens.sessions.others_on_host import others_on_host
from zktop.ui.screens.sessions.risks import SessionRisks
from zktop.ui.screens.sessions.rows import SessionRows
from zktop.ui.screens.sessions.server_rows import COLUMNS, server_rows
from zktop.ui.styled_text import text_of
from zktop.ui.view_state import Selection

AT = NOW + 1_000_000
STORY = "X x: A B C ; Y x: B D"


def reports_of(*more: AnyFact) -> list[Frame]:
    """Two reports: three sessions queue for X, the second of them holds Y."""
    known = [*facts(STORY, at=AT), own(at=AT), *more]
    return frames((AT, known), (AT + 3_000, []))


def with_tables() -> list[Frame]:
    """The same with the tables of a server: A is silent, and one session has no lock."""
    rows = [row("A", 9_200), row("B", 100), row("C", 100), row("D", 100), row("idle", 100)]
    return reports_of(
        figures(ZK1, watches=4),
        connections(ZK1, *rows, at=AT),
        watches(ZK1, {"B": ("/config",)}, at=AT),
        expiry(ZK1, {"A": 800, "B": 9_000, "C": 9_000, "D": 9_000, "idle": 9_000}, at=AT),
    )


@asynccontextmanager
async def shown(
    film: list[Frame], size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Zktop, Pilot[int]]]:
    """Show the sessions screen."""
    app = app_of(*film, page="sessions")
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield app, pilot


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_the_silent_holder_comes_first(size: tuple[int, int]) -> None:
    """HIGH, with how long it was silent, at every size."""
    async with shown(with_tables(), size) as (_, pilot):
        screen = await settled(pilot)

        _, first, *_ = panel(screen, "Sessions")
        assert first.strip().startswith("HIGH")
        assert " A " in first
        assert "━━━━━━━━━━━─" in first


@pytest.mark.parametrize(
    ("servers", "width", "missing"),
    [((ZK1,), 100, {"SERVER", "REQ/s"}), ((ZK1,), 200, {"SERVER"}), ((ZK1, ZK2), 200, set())],
)
async def test_the_address_of_a_client_comes_before_its_server(
    servers: tuple[Text, ...], width: int, missing: set[str]
) -> None:
    """An ensemble of one server has no column for it."""
    tables = [connections(one, row("ann") if one == ZK1 else row("bob")) for one in servers]
    film = frames((NOW, [own(), *lock(ORDERS, "ann", "bob"), *tables]))
    async with app_of(*film, page="sessions").run_test(size=(width, 40)) as pilot:
        heads = panel(await settled(pilot), "Sessions")[0].split()

    assert {"CLIENT", "SERVER", "REQ/s"} - {*heads} == missing


@pytest.mark.parametrize(("width", "is_shown"), [(120, False), (140, True)])
async def test_timeouts_are_shown_where_notes_have_room(width: int, *, is_shown: bool) -> None:
    """They are less important than the notes."""
    film = frames((NOW, [own(), *lock(ORDERS, "ann"), connections(ZK1, row("ann"))]))
    async with app_of(*film, page="sessions").run_test(size=(width, 40)) as pilot:
        heads = panel(await settled(pilot), "Sessions")[0].split()

    assert ("T/OUT" in heads) == is_shown


async def test_what_happens_if_it_dies() -> None:
    """Which client gets the lock, and which wait behind it, also through another lock."""
    async with shown(with_tables()) as (_, pilot):
        screen = "\n".join(await settled(pilot))

        assert "/locks/x goes to B" in screen
        assert "Blast radius: 3 sessions behind its 1 lock: B, C and D." in screen


async def test_a_server_has_a_row() -> None:
    """Unknown values are question marks."""
    async with shown(with_tables()) as (_, pilot):
        screen = await settled(pilot)

        assert any("zk1:2181" in line and "LEADER" in line and "1/4" in line for line in screen)


def test_versions_are_in_the_order_of_their_numbers() -> None:
    """Not in that of texts."""
    versions = ["3.10.0-5a02a05, built on 2026-02-25", "3.9.4", "3.9.10"]
    servers = [figures(Text(f"zk{n}:2181"), version=Text(one)) for n, one in enumerate(versions)]
    (frame,) = frames((AT, servers))
    version = next(column for column in COLUMNS if column.name == "VERSION")
    assert version.key is not None
    found = sorted(server_rows(frame.report, PacketRates()), key=version.key)  # type: ignore[arg-type]

    assert [row.figures.version for row in found] == ["3.9.4", "3.9.10", versions[0]]


@pytest.mark.parametrize("state", OUTAGES)
def test_an_outage_fits_its_column(state: ServerState) -> None:
    """With its duration in the first minute."""
    mode = next(column for column in COLUMNS if column.name == "MODE")

    assert len(outage(state, 12_000)[0]) <= mode.width


async def test_without_tables_it_says_what_is_unknown() -> None:
    """It shows what the znodes say."""
    async with shown(reports_of()) as (_, pilot):
        screen = "\n".join(await settled(pilot))

        assert "NO SERVER TABLES" in screen
        assert "Unknown: contact, expiry, watches, clients." in screen
        assert "/locks/y goes to D" in screen


async def test_a_client_of_which_no_table_shows_a_contact_is_not_at_low_risk() -> None:
    """It may be about to expire; the next one was heard from."""
    tables = connections(ZK1, row("B", 100), at=AT), replace(out(ZK2, "down"), at=AT)
    async with shown(reports_of(*tables)) as (_, pilot):
        _, *rows = panel(await settled(pilot), "Sessions")
        risks = {name: risk for risk, _, name, *_ in map(str.split, filter(str.strip, rows))}

        assert (risks["A"], risks["B"]) == ("?", "LOW")


async def test_a_filter_finds_a_risk_as_the_table_shows_it() -> None:
    """A client whose contact is unknown is not among those at low risk."""
    tables = connections(ZK1, row("B", 100), at=AT), replace(out(ZK2, "down"), at=AT)
    async with shown(reports_of(*tables)) as (app, pilot):
        app.set_filter("risk:low")
        _, *rows = panel(await settled(pilot), "Sessions")

        assert [name for _, _, name, *_ in map(str.split, filter(str.strip, rows))] == ["B"]


async def test_a_server_that_is_down_says_since_when_and_why() -> None:
    """In place of its mode and its note, in red."""
    down = replace(out(ZK1, "down"), since=AT - 9_000, at=AT + 2_000)
    async with shown(reports_of(down), (160, 40)) as (_, pilot):
        screen = await settled(pilot)

        _, row_of = panel(screen, "Servers")
        assert "DOWN 12s" in row_of
        assert "connection refused" in row_of


async def test_a_member_that_is_down_gives_no_tables() -> None:
    """Those of the leader make its own list of sessions needless; what is missing is not cut."""
    leader = [connections(ZK1, row("A")), watches(ZK1, {"A": ()}), expiry(ZK1, {"A": 9_000})]
    down = replace(out(ZK2, "down"), since=AT - 9_000, at=AT + 2_000)
    async with shown(reports_of(figures(ZK1), *leader, down), (120, 36)) as (_, pilot):
        screen = await settled(pilot)

        (row_of,) = (line for line in panel(screen, "Servers") if "DOWN" in line)
        assert row_of.split()[-1] == "none"
        assert "lost wake-ups may not be detected" in " ".join(" ".join(screen).split())


async def test_a_member_that_was_never_reached_is_not_called_down() -> None:
    """Its address may not resolve on this host."""
    far = replace(out(ZK1, "unreached", "no such host name"), at=AT)
    async with shown(reports_of(far), (200, 40)) as (_, pilot):
        screen = await settled(pilot)

        _, row_of = panel(screen, "Servers")
        assert "unreached" in row_of
        assert "never answered: no such host name" in row_of


async def test_a_locked_down_server_says_what_to_add_to_its_configuration() -> None:
    """On any terminal: the column of notes needs a wide one."""
    why = "mntr is not in this server's 4lw.commands.whitelist"
    locked = Server(server=ZK1, channel="4lw", why=Text(why), state="up", at=AT, zxid=0)
    tables = no_connections(ZK1, why, AT), no_watches(ZK1, why, AT)
    async with shown(reports_of(locked, *tables), (100, 30)) as (_, pilot):
        screen = "\n".join(await settled(pilot))

        assert "Add to zoo.cfg:\n   4lw.commands.whitelist=srvr,mntr," in screen


async def test_no_key_fails_before_the_first_report() -> None:
    """The screen says what it waits for."""
    async with shown([]) as (_, pilot):
        for key in ("enter", "o", "escape", "O", "f", "y", "up", "down"):
            await pilot.press(key)
        screen = await settled(pilot)

        assert "Sessions" in screen[0]


async def test_f_lists_sessions_without_locks() -> None:
    """They are only counted at first."""
    async with shown(with_tables()) as (_, pilot):
        folded = "\n".join(await settled(pilot))
        await pilot.press("f")
        listed = "\n".join(await settled(pilot))

        assert "5 sessions, 4 with locks, 1 at HIGH risk   f shows 1 without locks" in folded
        assert "f hides those without locks" in listed


async def test_o_and_O_sort() -> None:  # noqa: N802  the key has a capital letter
    """By a column, and in reverse."""
    async with shown(with_tables()) as (_, pilot):
        await pilot.press("o", "i", "enter", "escape")
        sorted_once = _names(await settled(pilot))
        await pilot.press("O")
        turned = _names(await settled(pilot))

        assert sorted_once == ["A", "B", "C", "D"]
        assert turned == ["D", "C", "B", "A"]


async def test_a_filter_leaves_out_sessions() -> None:
    """Every field can be matched."""
    async with shown(with_tables()) as (app, pilot):
        app.set_filter("risk:high")
        await pilot.press("f")
        screen = await settled(pilot)

        assert _names(screen) == ["A"]


async def test_a_filter_that_nothing_matches_says_nothing_of_locks() -> None:
    """The sessions do use some, and none of them is described."""
    async with shown(with_tables()) as (app, pilot):
        app.set_filter("zzzz")
        screen = "\n".join(await settled(pilot))

        assert "no session matches the filter" in screen
        assert "No session uses a lock" not in screen
        assert session_text(session("A")) not in screen


def test_a_session_gets_the_name_that_the_list_of_owners_has_later() -> None:
    """The file with the list may be written while zktop runs."""
    owners = OwnerNames(zxid=0, at=AT, owners={hex(session("idle")): "billing"})
    tables = connections(ZK1, row("idle", 100), at=AT)
    rows = SessionRows()
    rows.set_grouped(on=False)
    for frame in frames((AT, [own(at=AT), tables]), (AT + 1_000, [owners])):
        read_whole(rows, frame.report)

    assert rows.rows[session("idle")].name == "billing"


async def test_enter_opens_the_lock() -> None:
    """With the node of the session there."""
    async with shown(with_tables()) as (app, pilot):
        await pilot.press("enter")
        await settled(pilot)

        assert app.page is not None
        assert app.page.entry.name == "lock"
        assert (app.subject.path, app.subject.session) == ("/locks/x", session("A"))


async def test_down_describes_the_next_session() -> None:
    """The lower half follows the cursor."""
    async with shown(with_tables()) as (app, pilot):
        await pilot.press("down")
        screen = "\n".join(await settled(pilot))

        assert app.page is not None
        assert f"─ {app.page.subject.session:#x} ─" in screen
        assert f"─ {app.page.copied().split()[1]} ─" in screen


async def test_the_cursor_follows_the_selection_of_other_screens() -> None:
    """Until the user moves it."""
    async with shown(with_tables()) as (app, pilot):
        chosen = []
        for name in ("C", "B"):
            app.turn_to("sessions", Selection(session=session(name)))
            await settled(pilot)
            chosen.append(app.page.copied().split()[2])
        await pilot.press("down")
        await settled(pilot)
        chosen.append(app.page.copied().split()[2])
        app.draw()
        await settled(pilot)
        chosen.append(app.page.copied().split()[2])

    assert chosen[:2] == ["C", "B"]
    assert chosen[2] == chosen[3] != "B"


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ((100, 100), "2 other sessions, none silent: a problem with this process"),
        ((8_000, 100), "2 other sessions, 1 of them silent too"),
        ((8_000, 9_000), "2 other sessions, all silent: a problem with the host"),
    ],
)
def test_a_silent_session_is_compared_with_its_host(others: tuple[int, int], said: str) -> None:
    """A silent host is another problem than a silent process."""
    rows = [row(name, quiet) for name, quiet in zip("ABC", (8_000, *others), strict=True)]
    far = replace(row("D", 100), client=Text("10.0.0.12:7"))
    ensemble = reports_of(connections(ZK1, *rows, far, at=AT))[-1].report.ensemble

    assert said in others_on_host(ensemble, session("A"))
    assert others_on_host(ensemble, session("D")) == ""
    assert others_on_host(ensemble, session("nobody")) == ""


def test_a_session_with_contact_has_others_on_its_host() -> None:
    """They are counted, and the silent ones among them."""
    rows = [row("A", 100), row("B", 8_000), row("C", 100)]
    ensemble = reports_of(connections(ZK1, *rows, at=AT))[-1].report.ensemble

    assert others_on_host(ensemble, session("A")) == "10.0.0.1 has 2 other sessions, 1 silent"
    assert others_on_host(ensemble, session("B")).endswith(
        "a problem with this process, not with the host"
    )


def test_behind_means_also_through_other_locks() -> None:
    """D waits for Y, which B holds, and B waits for X."""
    report = with_tables()[-1].report
    directory = SessionDirectory()
    [*directory.read(report, set())]

    behind, is_all = behind_it(report, directory, session("A"))

    assert ([directory.name(one) for one in behind], is_all) == (["B", "C", "D"], True)


def test_the_directory_follows_changes() -> None:
    """It is the same as a new one, forwards and backwards in time."""
    film = [*with_tables(), *frames((AT, facts("X x: A C", at=AT)))]
    follower = SessionDirectory()
    for frame in (*film, *reversed(film)):
        [*follower.read(frame.report, set())]
        fresh = SessionDirectory()
        [*fresh.read(frame.report, set())]

        assert _known(follower) == _known(fresh)


def test_a_session_in_no_table_has_no_connection() -> None:
    """All tables were read after its node was created, and it is in none."""
    report = reports_of(connections(ZK1, row("B"), row("C"), row("D"), at=AT))[-1].report
    directory = SessionDirectory()
    [*directory.read(report, set())]

    risks = SessionRisks(directory)
    [*risks.read(report, set(directory.locks))]
    risk = risks.of(session("A"))

    assert risk.level == "HIGH"
    assert risk.note.startswith("no connection")


@pytest.mark.parametrize(
    ("silent", "timeout", "ink"),
    [
        (0, 30_000, "good"),
        (16_000, 30_000, "info"),
        (21_000, 30_000, "warning"),
        (28_000, 30_000, "critical"),
    ],
)
def test_silence_is_more_than_a_colour(silent: int, timeout: int, ink: str) -> None:
    """The bar is longer, too."""
    filled, rest = silence_bar(silent, timeout)

    assert filled.ink == ink
    assert filled.text.count("━") == round(12 * silent / timeout)
    assert rest.ink == "dim"


@pytest.mark.parametrize("silent_ms", [4_000, 6_000, 7_000])
def test_finding_bar_and_risk_rate_a_silence_alike(silent_ms: int) -> None:
    """A red risk beside a yellow bar would be two answers."""
    rows = [row("A", silent_ms), row("B"), row("C"), row("D")]
    report = reports_of(connections(ZK1, *rows, at=AT))[-1].report
    directory = SessionDirectory()
    [*directory.read(report, set())]
    risks = SessionRisks(directory)
    [*risks.read(report, set(directory.locks))]
    severity = next((one.severity for one in report.findings if one.rule == "S3"), None)

    filled, _ = silence_bar(silent_ms, 10_000)
    assert filled.ink == (severity or "good")
    assert risks.of(session("A")).level == ("MED" if severity == "warning" else "LOW")


def test_a_strip_has_a_mark_for_each_contact() -> None:
    """There are also marks for when the library gives up, and for the expiry."""
    heard = RecentContacts((AT - 9_000, AT - 4_000))
    drawn = [text_of(one) for one in contact_strip(heard, AT, 12_000, None, 60)]

    assert drawn[0].count("●") == 2
    assert drawn[0].count("┃") == 1
    assert "2/3" in drawn[1]


def test_a_strip_is_empty_where_no_contacts_are_known() -> None:
    """At a packed moment only the last contact is: the time before it was not all silence."""
    heard = RecentContacts((AT - 4_000,), known_from=AT - 4_000)
    strip, *_ = contact_strip(heard, AT, 12_000, None, 60)

    assert text_of(strip).lstrip().startswith("●")
    assert text_of(strip).startswith("   ")


def _names(screen: list[str]) -> list[str]:
    rows = (line.split() for line in panel(screen, "Sessions"))
    return [words[2] for words in rows if words and words[0] in ("HIGH", "MED", "LOW")]


def _known(directory: SessionDirectory) -> dict[int, tuple[set[Text], set[Text]]]:
    return {one: (set(p.holds), {*p.waits_for}) for one, p in directory.locks.items()}


async def test_a_wide_terminal_counts_packets() -> None:
    """As the servers do, since the session connected; o sorts by them."""
    rows = [row("A", 100, received=40, sent=41), row("B", 100, received=12_000, sent=7)]
    async with shown(reports_of(connections(ZK1, *rows, at=AT)), (200, 60)) as (_, pilot):
        screen = await settled(pilot)
        heads, *rows_shown = (one.split() for one in panel(screen, "Sessions"))
        second = next(one for one in rows_shown if "B" in one and one[-1:])

        assert heads[heads.index("RECVD") + 1] == "SENT"
        assert second[second.index("7") - 2 : second.index("7") + 1] == ["12", "000", "7"]


async def test_a_large_window_shows_the_last_minute_of_the_session() -> None:
    """Below its details; the strip of the session comes first."""
    (film,) = frames((AT, facts(STORY)))
    app = app_of(film, page="sessions")
    async with app.run_test(size=(200, 60)) as pilot:
        lines = await settled(pilot)
        await pilot.press("down")
        later = await settled(pilot)

        first, second = (panel(one, "Last 60 s")[0].split()[0] for one in (lines, later))
        assert first != second
        assert any(f"─ {second} ─" in one for one in later)


async def test_the_node_of_another_session_is_not_kept() -> None:
    """Otherwise, a command of the user would run for the node of ann."""
    (frame,) = frames((NOW, lock("/locks/orders", "ann", "bob")))
    ann, _ = frame.report.records[Text("/locks/orders")].lock.members
    before = Selection(path="/locks/orders", node=ann.node, session=ann.owner)
    async with page_on("sessions", [frame], subject=before) as (app, pilot):
        await pilot.press("down")
        await settled(pilot)
        after = app.selection

    assert (after.session, after.node) == (session("bob"), None)


def test_contacts_before_the_first_frame_are_not_known() -> None:
    """The strip is empty there; a line would say that the session was silent."""
    film, tape = with_tables(), Tape()
    for frame in film:
        tape.add(frame)

    heard = recent_contacts(tape, session("B"), film[-1].report)

    assert (heard.times, heard.known_from) == ((AT - 100,), AT)
