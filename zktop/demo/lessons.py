"""The six lessons of screen 6, in order. A test plays each and checks its claims."""

from zktop.demo_types.lesson import Lesson, LessonPart

QUEUE = Lesson(
    "A queue",
    "Each client that wants the lock creates a znode below it, and ZooKeeper appends the next "
    "number to the name. The lowest number holds the lock. These znodes are ephemeral: they "
    "disappear when their client releases the lock, or when its session ends. Each waiter sets "
    "a watch: it asks ZooKeeper to notify it when the znode before its own is deleted.",
    (LessonPart("queue", "1 release woke 1 client, 1 could go on."),),
    "ann holds the lock; bob, cid and dot wait. When ann releases it, which of them does "
    "ZooKeeper notify?",
    "Only bob, because only bob watches ann's znode. cid watches bob's znode and dot watches "
    "cid's. Both still exist, so cid and dot keep sleeping. However long the queue is, a "
    "release wakes one client: the next one.",
    (
        "one row for the lock Mutex: who holds it, and how many wait",
        "the queue by number; the arrows are the watches that the server lists",
        "nothing: a queue that moves is not a problem",
        "one session for each client; 'if it dies' says who would move up",
        "when each client waited, and when it held the lock",
    ),
)

HERD = Lesson(
    "A herd, and its cure",
    "Here all waiters set the same watch: on the list of the lock's children. Any change of "
    "that list, a client that leaves or one that joins, wakes all of them.",
    (
        LessonPart("herd", "1 release woke 5 clients, 1 could go on."),
        LessonPart("no-herd", "1 release woke 1 client, 1 could go on."),
    ),
    "Five clients wait. How many of them does one release wake, and how many of those can go on?",
    "Five wake and list the queue again, and four of them find that it is not their turn. With "
    "1,000 waiters every release costs 1,000 notifications and 1,000 listings. The cure is the "
    "queue of lesson 1: each client watches only the znode before its own.",
    (
        "one lock and the length of its queue; the release is among the events",
        "part 1: all watch the children; part 2: a chain of arrows",
        "nothing in part 1: five is a small herd, and ZooKeeper does not list such watches",
        "part 1: the server counts more watches than it lists",
        "the release, and who acquired the lock next",
    ),
)

READERS_AND_WRITERS = Lesson(
    "Readers and writers",
    "A read/write lock lets several readers in at the same time. A writer needs the lock "
    "alone, so it waits for every request ahead of its own. A reader waits only for the writers "
    "ahead of it.",
    (LessonPart("readers-and-writers", "2 clients share the lock, 3 wait."),),
    "r1 and r2 are reading. Why must r3 wait, although it only wants to read?",
    "Because w1, a writer, asked before r3. If later readers could overtake a waiting writer, "
    "it might never get the lock: the scene 'A writer starves' shows that. r3 watches w1, so it "
    "is notified when w1 is done.",
    (
        "one lock, held by two readers",
        "which modes are compatible with a reader, and with a writer",
        "nothing: waiting for a writer is correct",
        "'if it dies': when r1 goes, w1 still has to wait for r2",
        "r1 and r2 hold at the same time: they share the lock",
    ),
)

DEADLOCK = Lesson(
    "A deadlock",
    "Two locks. ann holds orders and asks for stock; bob holds stock and asks for orders; cid "
    "asks for stock, too. In part 2, five philosophers each hold one fork and wait for the next "
    "one.",
    (
        LessonPart("ab-ba", "2 clients block each other, 1 more waits behind them."),
        LessonPart("philosophers", "5 clients block each other."),
    ),
    "How long will ann, bob and cid wait?",
    "Forever. To ZooKeeper these are two ordinary queues; it does not notice that they form a "
    "cycle. ann or bob has to give up a lock, or be killed; cid only waits behind them, so "
    "killing cid would not help. Clients that always acquire locks in the same order cannot "
    "deadlock.",
    (
        "the two locks marked as a deadlock, and the client to kill",
        "part 1: ann waits for stock, behind bob",
        "the cycle step by step, how sure zktop is, and which client to kill",
        "the session of each client, with what it holds and waits for",
        "the moment when the cycle closed",
    ),
)

CRASH = Lesson(
    "A crash, and session expiry",
    "A killed client cannot release anything. Its session lives on until ZooKeeper has heard "
    "nothing from it for the session timeout; then its znodes are deleted. In part 2 the "
    "client is not dead but frozen for longer than that, as in a long garbage "
    "collection.",
    (
        LessonPart("crash", "1 crash woke 1 client, 1 could go on."),
        LessonPart("oversleep", "2 clients believed at the same time that they held the lock."),
    ),
    "ann's process is killed while it holds the lock. When does bob get the lock?",
    "When ann's session expires: after its session timeout, five seconds in the sandbox. "
    "Until then ZooKeeper cannot know that ann is dead and not just slow. Part 2 "
    "shows why this is dangerous: bob gets the lock, ann wakes up, and for a moment both "
    "believe that they hold it. What they write should carry a number that grows with every "
    "holder, so that a late write can be refused.",
    (
        "the lock is held, although its holder is dead",
        "ann's znode at the front of the queue, until the session expires",
        "a note if the holder has been silent for a long time",
        "the countdown to the end of ann's session, and what that frees",
        "how long bob waited for a lock whose holder was dead",
    ),
)

LOST_WAKE_UP = Lesson(
    "A lost wake-up",
    "A client first lists the queue and then sets its watch. If the client ahead of it "
    "leaves in between, the watch is on a znode that is gone for good. In part 2 a "
    "client is notified, is not first yet, and forgets to set a new watch.",
    (
        LessonPart("lost-wake-up", "1 client watches a znode that is gone: nothing will wake it."),
        LessonPart("no-recheck", "1 release woke no client."),
    ),
    "cid is next in the queue. What happens to cid when ann releases the lock? With the "
    "cursor on ann in the picture, press U: ann releases it.",
    "Nothing. No event reaches cid, so the lock stays free while cid waits for it forever. "
    "Setting a watch tells a client whether the znode still exists. If it does not, the client "
    "must list the queue again. After every notification, too, it must list the queue again "
    "and set a new watch unless it is first.",
    (
        "the alert about a deleted node, after a few seconds",
        "cid watches a name that is not in the queue: no arrow",
        "the missed wake-up as a finding, with its proof",
        "cid is connected and healthy: nothing is wrong with its session",
        "when cid began to wait, and when ann released",
    ),
)

LESSONS: tuple[Lesson, ...] = (QUEUE, HERD, READERS_AND_WRITERS, DEADLOCK, CRASH, LOST_WAKE_UP)
