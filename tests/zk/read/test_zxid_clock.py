"""The zxids of events keep them in order with answers."""

from zktop.zk.read.zxid_clock import ZxidClock


def test_an_event_is_newer_than_the_answer_before_it() -> None:
    """An event is newer than the answer before it and not newer than the next one."""
    clock = ZxidClock()
    clock.answered(10)

    assert clock.happened("/a") == 11
    assert clock.happened("/b") == 11
    assert clock.answered(12) == 12


def test_two_events_of_one_znode_are_two_transactions() -> None:
    """A deletion and a creation of one znode get different zxids."""
    clock = ZxidClock()
    clock.answered(10)

    assert [clock.happened("/a"), clock.happened("/b"), clock.happened("/a")] == [11, 11, 12]
    assert clock.happened("/c") == 12


def test_one_transaction_may_delete_and_create_the_same_znode() -> None:
    """Answers keep up with the count until the server's zxid overtakes it."""
    clock = ZxidClock()
    clock.answered(10)
    clock.happened("/a", gone=True)
    created = clock.happened("/a")

    assert clock.answered(11) == created == 12
    assert clock.answered(11) == 12
    assert clock.answered(20) == 20


def test_a_deletion_without_its_creation_does_not_hide_the_answer() -> None:
    """A one-shot watch reports only the deletion; the next answer shows the new znode."""
    clock = ZxidClock()
    clock.answered(10)
    gone = clock.happened("/a", gone=True)
    answer = clock.answered(11)

    assert gone == answer == 11
    assert clock.present(["/b"], answer) == 11
    assert clock.present(["/a", "/b"], answer) == 12
    assert clock.answered(11) == 12


def test_servers_from_3_9_on_send_the_zxid() -> None:
    """Servers from 3.9 on send the zxid with the event, and it is used as it is."""
    clock = ZxidClock()
    clock.answered(10)

    assert clock.happened("/a", 15) == 15
    assert clock.answered(15) == 15
    assert clock.seen == 15
