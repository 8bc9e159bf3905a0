"""Screen 6 as a course: lessons, their pictures, questions and answers."""

import pytest
from model.make_facts import NOW, ZK1, connections, expiry, lock, row, session
from msgspec.structs import replace
from ui.example_ensemble import orphan, trouble
from ui.fake_contenders import AB_BA, FakeContenders, contender, scene_of
from ui.fake_feed import FakeFeed, frames, pressed, settled

from zktop.demo_types.contender_state import ContenderState, Watched
from zktop.demo_types.lesson import DemoDeparture, Lesson, LessonPart, SceneCount
from zktop.demo_types.scene_moves import SceneProgress
from zktop.model.facts import join
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame
from zktop.ui.settings import UiSettings

HERD = scene_of("herd", "The herd", "All wake.", "Count.", "ann enters", "ann releases")
CURE = scene_of("no-herd", "The herd, avoided", "One wakes.", "Count.", "ann enters")
OTHER = replace(scene_of("crash", "The holder is killed", "It takes time.", "The end.", "ann"),
                group="Crashes and expiry")  # fmt: skip
LESSON = Lesson(
    "A herd, and its cure",
    "All waiters watch the children.",
    (LessonPart("herd", "1 release woke 2 clients."), LessonPart("no-herd", "")),
    "How many wake?",
    "Two wake, and one goes on.",
    ("the lock", "the arrows", "nothing", "the watches", "the release"),
)
FOLDER = "/zktop-demo/herd"
JOBS = f"{FOLDER}/jobs"
NAMES = ("ann", "bob", "cid")
CHILDREN = Watched(JOBS, "children")


def client(name: str, state: str = "waits", watches: Watched | None = None) -> ContenderState:
    """A demo client in the lock."""
    holds = (JOBS,) if state == "holds" else ()
    return contender(name, JOBS, state, session(name), holds=holds, watches=watches)


def crowd(watches: Watched | None = CHILDREN) -> list[ContenderState]:
    """One holds, two wait."""
    return [client("ann", "holds"), client("bob", watches=watches), client("cid", watches=watches)]


def picture_of(*names: str) -> list[Frame]:
    """What zktop reads of the lock, with these clients in its queue."""
    return frames((NOW, lock(JOBS, *names)))


def stage(played: int = 1, **given: object) -> FakeContenders:
    """A lesson and another scene; the first part of the lesson is loaded."""
    fields = {
        "lessons": (LESSON,),
        "scenes": (HERD, CURE, OTHER),
        "progress": SceneProgress(HERD, FOLDER, played),
        "states": crowd(),
    }
    return FakeContenders(**(fields | given))


async def shown(
    stage: FakeContenders,
    *keys: str,
    news: tuple[Frame, ...] | None = None,
    size: tuple[int, int] = (120, 46),
) -> str:
    """What is on the screen after these keys."""
    feed = FakeFeed(*(picture_of(*NAMES) if news is None else news))
    app = Zktop(feed, stage, settings=UiSettings(page="demo"))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await pressed(pilot, *keys)
        return "\n".join(await settled(pilot))


async def test_lessons_come_first_and_other_scenes_follow_in_groups() -> None:
    """They have titles, because names in code tell a newcomer nothing."""
    text = await shown(stage(progress=SceneProgress(), states=()))
    places = [
        text.index(one)
        for one in ("LESSONS", "1 A herd, and its cure", "OTHER SCENES", "Crashes and expiry",
                    "The holder is killed", "RECIPES", "poll")
    ]  # fmt: skip

    assert places == sorted(places)
    assert "no-herd" not in text


async def test_a_lesson_says_what_it_is_about_and_where_to_look() -> None:
    """The question is there, the answer is not, and each screen has its line."""
    text = await shown(stage(progress=SceneProgress(), states=()))

    assert "All waiters watch the children." in text
    assert "How many wake?" in text
    assert "Two wake, and one goes on." not in text
    assert "2 Lock         the arrows" in text


async def test_the_text_of_a_lesson_is_not_cut_at_40_columns() -> None:
    """Neither titles nor hints."""
    lines = (await shown(stage(), "a", size=(40, 70))).splitlines()
    begin, end = (
        next(at for at, line in enumerate(lines) if f"╭─ {title} " in line)
        for title in ("Lesson", "Demo clients")
    )
    text = " ".join(" ".join(line[17:39] for line in lines[begin + 1 : end - 1]).split())

    assert "LESSON 1 A herd, and its cure" in text
    assert "part 2: The herd, avoided" in text
    assert "Two wake, and one goes on." in text
    assert "…" not in text


async def test_a_shows_the_answer_and_hides_it_again() -> None:
    """It is hidden at first."""
    once = await shown(stage(), "a")
    twice = await shown(stage(), "a", "a")

    assert "Two wake, and one goes on." in once
    assert "Two wake, and one goes on." not in twice


async def test_only_lessons_have_an_answer() -> None:
    """For other scenes, the key shows a message."""
    app = Zktop(FakeFeed(), stage(progress=SceneProgress()), settings=UiSettings(page="demo"))
    async with app.run_test(size=(120, 46), notifications=True) as pilot:
        await settled(pilot)
        await pressed(pilot, "j", "a")
        await settled(pilot)
        found = [one.message for one in app._notifications]

    assert found == ["Only lessons have a question and an answer."]


async def test_waiters_of_a_herd_all_point_to_the_children_of_the_lock() -> None:
    """Each has a stroke, and all share one arrowhead."""
    text = await shown(stage())

    assert "jobs  its children ◀─╮" in text
    assert "│ bob     waits    ──┤" in text
    assert "│ cid     waits    ──╯" in text


async def test_a_waiter_in_a_queue_points_to_the_client_before_it() -> None:
    """Contenders report watches at once; the servers' tables are a few seconds old."""
    nodes = [one.path for one in lock(JOBS, *NAMES)[1:]]
    states = [client("ann", "holds"), client("bob", watches=Watched(nodes[0])),
              client("cid", watches=Watched(nodes[1]))]  # fmt: skip
    text = await shown(stage(states=states))

    assert "● ann     holds   ◀─╮" in text
    assert "│ bob     waits   ──╯◀─╮" in text
    assert "│ cid     waits   ─────╯" in text


async def test_a_watch_on_a_deleted_znode_is_red_words_not_an_arrow() -> None:
    """Nothing will fire it."""
    gone = Watched(join(JOBS, "lock-0000000007"), "absent")
    text = await shown(stage(states=[client("ann", "holds"), client("bob", watches=gone)]))

    assert "watches lock-0000000007, which is gone" in text
    assert "1 client watches a znode that is gone: nothing will wake it." in text


async def test_a_release_is_counted_and_marked_at_the_clients() -> None:
    """The marks say which clients woke, and which of them could go on."""
    release = DemoDeparture("ann", JOBS, "released", ("bob", "cid"), ("bob",))
    states = [client("bob", "holds"), client("cid", watches=CHILDREN)]
    count = SceneCount((release,))
    text = await shown(stage(states=states, count=count), news=picture_of("bob", "cid"))

    assert "1 release woke 2 clients, 1 could go on." in text
    assert "woken, goes on" in text
    assert "woken for nothing" in text


async def test_a_client_is_not_woken_for_nothing_when_one_ahead_of_it_gives_up() -> None:
    """It has to watch the next one."""
    count = SceneCount((DemoDeparture("bob", JOBS, "left", ("cid",)),))
    states = [client("ann", "holds"), client("cid")]
    text = await shown(stage(states=states, count=count), news=picture_of("ann", "cid"))

    assert "1 waiter that left the queue woke 1 client, none could go on." in text
    assert "woken, not its turn yet" in text


@pytest.mark.parametrize(("listed", "words"), [(["ann", "bob"], " so far."), (["bob"], ".")])
async def test_a_crash_wakes_clients_until_its_session_has_expired(
    listed: list[str], words: str
) -> None:
    """From then on, it has woken none."""
    crash = DemoDeparture("ann", JOBS, "died")
    states = [replace(client("ann"), session=session("ann")), client("bob", "waits")]
    tables = connections(ZK1, *map(row, listed)), expiry(ZK1, dict.fromkeys(listed, 9_000))
    news = tuple(frames((NOW, [*lock(JOBS, "bob"), *tables])))
    text = await shown(stage(states=states, count=SceneCount((crash,))), news=news)

    assert f"1 crash woke no client{words}" in text


async def test_the_crash_of_a_client_in_two_locks_is_one() -> None:
    """It left both."""
    crash = [DemoDeparture("ann", lock, "died") for lock in (JOBS, f"{JOBS}-2")]

    assert "1 crash woke no client" in await shown(stage(count=SceneCount((*crash,))))


@pytest.mark.parametrize("rule", ["R2", "R3", "R7"])
async def test_the_clean_up_of_an_earlier_scene_is_no_verdict(rule: str) -> None:
    """Its locks were deleted, and created again by this one."""
    (frame,) = picture_of(*NAMES)
    (found, *_) = trouble()[-1].report.findings
    notice = replace(found, rule=rule, sentence="It vanished.", lock=JOBS, locks=(), cause=None)
    report = replace(frame.report, findings=(notice,))

    assert "It vanished." not in await shown(stage(), news=(replace(frame, report=report),))


async def test_marks_go_when_another_client_has_joined() -> None:
    """They only describe the last change; the count stays."""
    release = DemoDeparture("ann", JOBS, "released", ("bob",), ("bob",), is_latest=False)
    states = [client("bob", "holds")]
    text = await shown(stage(states=states, count=SceneCount((release,))))

    assert "woken" not in text
    assert "1 release woke 1 client, 1 could go on." in text


async def test_two_that_believe_they_hold_are_named() -> None:
    """One of them no longer has a znode."""
    late = replace(
        client("dan", "holds"), last=replace(client("dan").last, at="1970-01-01T00:00:00Z")
    )
    count = SceneCount(believers={JOBS: ("ann", "dan")})
    text = await shown(stage(states=[*crowd(), late], count=count))

    assert "✗ dan     believes that it holds, but its znode is gone" in text
    assert "2 clients believed at the same time that they held the lock." in text


async def test_a_finished_scene_says_that_its_state_is_kept() -> None:
    """It also says how to clean up."""
    assert "Finished (state is kept; E cleans up)" in await shown(stage(played=2))


async def test_a_finished_part_says_how_to_go_on() -> None:
    """To the next part, and then to the next lesson."""
    both = (LESSON, replace(LESSON, title="A deadlock", parts=(LessonPart("crash", ""),)))
    first = await shown(stage(played=len(HERD.moves)))
    last = SceneProgress(CURE, "/zktop-demo/no-herd", len(CURE.moves))
    second = await shown(stage(lessons=both, progress=last))

    assert "enter plays part 2: The herd, avoided" in first
    assert "down, enter play lesson 2: A deadlock" in second


async def test_the_answer_is_scrolled_into_sight() -> None:
    """That works even in a small window, where the text has a few lines."""
    text = await shown(stage(), "a", size=(80, 24))

    assert "Two wake, and one goes on." in text


async def test_enter_after_a_part_plays_the_next_one() -> None:
    """Without a question: nothing is played again."""
    port = stage(played=2)
    await shown(port, "enter")

    assert port.asked == [("play", "no-herd")]


@pytest.mark.parametrize(("key", "asked"), [("enter", [("play", "herd")]), ("escape", [])])
async def test_enter_on_a_scene_that_plays_asks_first(key: str, asked: list[object]) -> None:
    """Enter again plays it again, Esc does not."""
    port = stage(played=1)
    text = await shown(port, "enter")
    assert "Play again?" in text
    assert port.asked == []

    await shown(port, "enter", key)

    assert port.asked == asked


async def test_a_scene_that_is_cleaned_up_is_played_again_without_a_question() -> None:
    """Its clients end anyway."""
    port = stage(played=1)
    port.progress = replace(port.progress, is_cleaning=True)

    await shown(port, "enter")

    assert port.asked == [("play", "herd")]


async def test_a_count_stays_with_its_part() -> None:
    """So the user can compare the herd with its cure."""
    release = DemoDeparture("ann", JOBS, "released", ("bob", "cid"), ("bob",))
    port = stage(played=2, count=SceneCount((release,)))
    app = Zktop(FakeFeed(*picture_of("bob", "cid")), port, settings=UiSettings(page="demo"))
    async with app.run_test(size=(120, 46)) as pilot:
        await settled(pilot)
        port.progress = SceneProgress(CURE, "/zktop-demo/no-herd", 0, is_moving=True)
        port.count = SceneCount()
        port.on_change()
        text = "\n".join(await settled(pilot))

    assert "✓ part 1: The herd" in text
    assert "1 release woke 2 clients, 1 could go on." in text
    assert "▶ part 2: The herd, avoided" in text


async def test_the_clients_of_all_locks_of_the_scene_are_counted() -> None:
    """A client that holds one lock and waits for another one is in both figures."""
    facts = (*lock(f"{FOLDER}/orders", "ann"), *lock(f"{FOLDER}/stock", "bob", "ann", "cid"))
    text = await shown(stage(), news=tuple(frames((NOW, facts))))

    assert "2 clients hold locks, 2 wait." in text
    assert "hold the lock" not in text


async def test_findings_about_other_locks_are_not_shown_with_a_scene() -> None:
    """A deadlock elsewhere is on screen 3, not in this lesson."""
    progress = SceneProgress(AB_BA, "/zktop-demo/ab-ba", 1, is_moving=True)
    text = await shown(FakeContenders(progress=progress), news=tuple(trouble()))

    assert "Deadlock #" not in text
    assert "block each other" not in text


async def test_a_deadlock_of_the_scene_is_drawn_as_a_chain_of_names() -> None:
    """It ends where it begins, and is counted."""
    orders, stock = "/zktop-demo/ab-ba/orders", "/zktop-demo/ab-ba/stock"
    facts = (*lock(orders, "ann", "bob"), *lock(stock, "bob", "ann", "cid"))
    progress = SceneProgress(AB_BA, "/zktop-demo/ab-ba", 2)
    text = await shown(FakeContenders(progress=progress), news=tuple(frames((NOW, facts))))

    assert "bob ─▶ ann ─▶ bob" in text or "ann ─▶ bob ─▶ ann" in text
    assert "2 clients block each other, 1 more waits behind them." in text


async def test_the_picture_chooses_the_client_for_keys() -> None:
    """The row under the cursor, as in every list."""
    port = stage()
    await shown(port, "tab", "j", "K")

    assert port.asked == [("kill", "bob")]


async def test_without_a_scene_the_list_of_demo_clients_comes_first() -> None:
    """All contenders are in sight, even a killed one; long texts scroll."""
    dead = [client("dan", "killed by signal 9"), client("eve", "ended")]
    port = stage(progress=SceneProgress(), states=[*crowd(), *dead])
    text = await shown(port, size=(120, 30))

    assert "eve            ended" in text
    assert "LESSON 1" in text


async def test_a_small_window_has_only_the_picture_and_the_text() -> None:
    """A list of contenders would repeat the picture."""
    text = await shown(stage(), size=(80, 24))

    assert "│ cid" in text
    assert "All waiters watch the" in text
    assert "CLIENT " not in text


LONG_AGO = "1970-01-01T00:00:00Z"


def since_long(one: ContenderState) -> ContenderState:
    """The same contender, which has reported nothing for a while."""
    assert one.last is not None
    return replace(one, last=replace(one.last, at=LONG_AGO))


@pytest.mark.parametrize(
    ("queue", "state", "note"),
    [
        (("bob",), client("bob"), "its turn but does not know it"),
        (("bob", "bob"), client("bob"), "an older znode: it waits for itself"),
        (("ann", "bob"), client("bob", "holds"), "believes that it holds"),
    ],
)
async def test_the_mistake_of_a_client_is_red(
    queue: tuple[str, ...], state: ContenderState, note: str
) -> None:
    """Its belief must differ from ZooKeeper's data for longer than a moment."""
    states = [since_long(state)]
    text = await shown(stage(states=states), news=tuple(picture_of(*queue)))

    assert note in " ".join(text.split())


async def test_a_znode_without_a_session_says_so() -> None:
    """It stays when its client dies."""
    text = await shown(stage(states=()), news=tuple(frames((NOW, orphan(JOBS, "ann", "bob")))))

    assert "no session owns its znode" in text


async def test_a_new_client_is_not_called_ownerless_before_its_znode_is_read() -> None:
    """In the moment after a listing, the picture does not say that no session owns the znode."""
    listing, *_ = lock(JOBS, "ann", "dora")

    text = await shown(stage(states=[]), news=frames((NOW, [listing])))

    assert "not read yet" in text
    assert "no session owns" not in text
