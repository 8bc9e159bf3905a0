"""The attempts of each contender at one lock."""

from model.plain_locks import member

from zktop.model.history.attempts import AttemptLog


def test_contenders_without_label_and_session_are_not_one_client() -> None:
    """Four of them gave up, and a fifth one got the lock."""
    attempts = AttemptLog()
    for number in range(4):
        attempts.gave_up(member("", number, 11 + number), 5_000)

    assert attempts.known == {}
