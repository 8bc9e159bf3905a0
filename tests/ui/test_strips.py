"""Strips: one column is the same span of time for everybody."""

import pytest
from model.builders import ZK1, connections, own, row
from ui.feeds import frames
from ui.past import BEGIN, A, B
from ui.test_travel import tape

from zktop.model.text import Text
from zktop.ui.draw import strips
from zktop.ui.heard import Heard
from zktop.ui.ink import text_of
from zktop.ui.tape import Tape
from zktop.ui.tracks import Stand, Tracks

END = BEGIN + 21_000
LETTERS = {A: "A", B: "B"}


@pytest.fixture(name="tracks")
def of_the_past() -> Tracks:
    """Read the tape of the past with the deadlock."""
    made = Tracks()
    made.look(tape())
    return made


def seen(column_ms: int, columns: int = 40) -> strips.Window:
    """Give a window on that past."""
    return strips.window(END, BEGIN, END, column_ms, columns)


def test_a_lock_shows_its_holder_and_its_queue(tracks: Tracks) -> None:
    """A letter a column, and below it the longest queue."""
    held, queue = strips.lock_strip(tracks, Text("/locks/y"), seen(1_000), LETTERS)

    assert text_of(held) == "  BBBBBBBBBBBBBBBBBBAA"
    assert text_of(queue) == "  111111111111111111" + "10"


def test_an_actor_shows_where_the_deadlock_is(tracks: Tracks) -> None:
    """Holding, then stuck, then gone or holding again."""
    first, second = (text_of(strips.actor_strip(tracks, one, seen(1_000))) for one in (A, B))

    assert first == "##!!!!!!!!!!!!!!!!!!##"
    assert second[:20] == "..!!!!!!!!!!!!!!!!!!"
    assert second[20:] in ("..", "xx")


def test_alarms_stand_above(tracks: Tracks) -> None:
    """As long as something is badly wrong."""
    assert text_of(strips.alarms(tracks, seen(1_000))) == "..!!!!!!!!!!!!!!!!!!.."


def test_a_column_that_hides_turns_says_so(tracks: Tracks) -> None:
    """A letter can tell of one turn; two turns in one column are a colon."""
    path = Text("/locks/busy")
    tracks.locks[path] = [
        Stand(BEGIN + 100, (A,)), Stand(BEGIN + 200, (B,), queue=12), Stand(BEGIN + 1_100, (A,)),
        Stand(BEGIN + 1_200, (B,)), Stand(BEGIN + 1_300, (A,)),
    ]  # fmt: skip

    held, queue = strips.lock_strip(tracks, path, seen(1_000), LETTERS)

    assert text_of(held) == "B:" + "A" * 20
    assert text_of(queue) == "**" + "0" * 20


def test_the_window_ends_now_where_it_can() -> None:
    """And it keeps the cursor in sight where the past is longer than it."""
    late = strips.window(1_000_000, 0, 1_000_000, 1_000, 60)
    early = strips.window(100_000, 0, 1_000_000, 1_000, 60)

    assert (late.begin, late.end) == (941_000, 1_001_000)
    assert early.column(100_000) == 30


@pytest.mark.parametrize("at", [0, 1, 499_999, 999_999, 1_000_000])
@pytest.mark.parametrize("column_ms", strips.ZOOMS)
def test_the_cursor_is_always_in_sight(at: int, column_ms: int) -> None:
    """Whatever the zoom."""
    window = strips.window(at, 0, 1_000_000, column_ms, 60)

    assert 0 <= window.column(at) < window.columns


def test_tracks_read_only_what_is_new() -> None:
    """Looking twice at the same tape counts nobody twice."""
    known = tape()
    once, twice = Tracks(), Tracks()
    once.look(known)
    for _ in range(2):
        twice.look(known)

    assert (twice.locks, twice.actors, twice.alarms) == (once.locks, once.actors, once.alarms)


def test_contacts_are_marked_where_they_were() -> None:
    """By all tables that were read, each once; who is in none has none."""
    known = Tape()
    for at, quiet in ((BEGIN, 500), (BEGIN + 5_000, 1_500), (BEGIN + 9_000, None)):
        (frame,) = frames((at, [own(at=at), connections(ZK1, row("A", quiet), at=at, zxid=at)]))
        known.add(frame)
    heard = Heard()
    for _ in range(2):
        heard.look(known)
    window = strips.window(BEGIN + 9_000, BEGIN - 1_000, BEGIN + 9_000, 1_000, 40)
    contacts = heard.contacts(A, window.begin, window.end)
    drawn = text_of(strips.contact_strip([at for at, _ in contacts], window))

    assert contacts == [(BEGIN - 500, ZK1), (BEGIN + 3_500, ZK1)]
    assert drawn == "p...p......"
    assert heard.contacts(B, window.begin, window.end) == []


def test_contacts_of_another_tape_are_others() -> None:
    """A recording is opened after another one."""
    known, heard = Tape(), Heard()
    (frame,) = frames((BEGIN, [own(at=BEGIN), connections(ZK1, row("A", 0), at=BEGIN)]))
    known.add(frame)
    heard.look(known)
    before = heard.contacts(A, BEGIN - 1_000, BEGIN + 1_000)
    heard.look(Tape())

    assert before == [(BEGIN, ZK1)]
    assert heard.contacts(A, BEGIN - 1_000, BEGIN + 1_000) == []
