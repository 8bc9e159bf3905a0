"""Details in which the sandbox answers as a real server, beside the recorded conversation."""

import pytest
from sandbox.raw_client import RawClient, i32, new, txt

DIGESTS = [("ann:hash", 0), (":hash", 0), ("a:b:", 0), ("a::b", -114), ("a:", -114), ("a", -114)]


@pytest.mark.parametrize(("identity", "err"), DIGESTS)
def test_an_id_of_the_digest_scheme(either, identity, err):
    """It has two parts; empty ones count unless they are at the end."""
    path = "/digest-" + identity.encode().hex()
    with RawClient(either.port) as client:
        replies = client.ask(1, new(path, flags=1, acl=[(31, "digest", identity)]))

        assert [reply.err for reply in replies] == [err]
        client.close_session()


@pytest.mark.parametrize(
    ("prefix", "is_found"),
    [("/mine", True), (" ", True), ("/ ", True), (" /mine", False), ("/mine ", False)],
)
def test_the_prefix_of_ephemerals(either, prefix, is_found):
    """Blanks are a part of it, except in one that stands for all."""
    with RawClient(either.port) as client:
        client.ask(1, new("/mine", flags=1))
        (reply,) = client.ask(103, txt(prefix))

        assert reply.body == (i32(1) + txt("/mine") if is_found else i32(0))
        client.close_session()


@pytest.mark.parametrize(("path", "err"), [("/watched", 0), ("/unwatched", -121)])
def test_any_client_s_watch_is_found(either, path, err):
    """Until 3.9, `checkWatches` does not ask who watches."""
    with RawClient(either.port) as watching, RawClient(either.port) as asking:
        watching.ask(106, txt("/watched") + i32(0))
        (reply,) = asking.ask(17, txt(path) + i32(3))

        assert reply.err == err
        watching.close_session()
        asking.close_session()
