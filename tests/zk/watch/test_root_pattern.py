"""Which paths a root covers."""

import pytest

from zktop.zk.watch.root_pattern import RootPattern, looks_like_a_member, root_patterns


@pytest.mark.parametrize(
    ("root", "base", "inside", "outside"),
    [
        (
            "/locks/a",
            "/locks/a",
            ["/locks/a", "/locks/a/x/y"],
            ["/locks", "/locks/b", "/locks/ab"],
        ),
        ("/locks/*", "/locks", ["/locks", "/locks/a", "/locks/a/x"], ["/", "/other"]),
        ("/locks/app-*", "/locks", ["/locks", "/locks/app-1/x"], ["/locks/other"]),
        ("/a/*/locks", "/a", ["/a", "/a/x", "/a/x/locks/y/z"], ["/a/x/other"]),
        ("/a/**", "/a", ["/a", "/a/x", "/a/x/y/z"], ["/b"]),
        ("/a/x*/**", "/a", ["/a", "/a/x1", "/a/x1/y/z"], ["/a/y", "/a/y/z"]),
        ("/**", "/", ["/", "/a", "/a/b"], ["/zookeeper", "/zookeeper/config"]),
        ("/zookeeper/x", "/zookeeper/x", ["/zookeeper/x/y"], ["/zookeeper"]),
    ],
)
def test_paths_inside_and_outside(
    root: str, base: str, inside: list[str], outside: list[str]
) -> None:
    """A root covers its locks, the paths that lead to them, and everything within a lock."""
    pattern = RootPattern(root)

    assert pattern.base == base
    assert [path for path in inside if not pattern.covers(path)] == []
    assert [path for path in outside if pattern.covers(path)] == []


@pytest.mark.parametrize(
    ("root", "path", "covered"),
    [
        ("/locks/*", "/locks", True),
        ("/locks/*", "/locks/a", True),
        ("/locks/app-*", "/locks", False),
        ("/a/*/locks", "/a", True),
        ("/a/*/locks", "/a/x", False),
        ("/a/**", "/a", True),
        ("/*", "/", False),
        ("/**", "/", False),
    ],
)
def test_children_that_count_by_any_name(root: str, path: str, *, covered: bool) -> None:
    """Any name counts below a `*` and below a lock, but not beside ZooKeeper's own folder."""
    pattern = RootPattern(root)

    assert pattern.covers_children(path) is covered
    if covered:
        assert pattern.covers(f"{path}/zookeeper")
        assert pattern.covers(f"{path}/x*[")


@pytest.mark.parametrize(
    ("outer", "inner", "contained"),
    [
        ("/locks/*", "/locks/a", True),
        ("/a/*", "/a/b/c", True),
        ("/locks/**", "/locks/**", True),
        ("/locks/**", "/locks/*", False),
        ("/locks/**", "/locks/a", False),
        ("/locks/*", "/locks/*", True),
        ("/a/*/locks", "/a/b", False),
        ("/locks/a", "/locks/*", False),
        ("/locks/a", "/locks/b", False),
    ],
)
def test_one_root_may_contain_another(outer: str, inner: str, *, contained: bool) -> None:
    """The inner root then needs no watch of its own."""
    assert RootPattern(outer).contains(RootPattern(inner)) is contained


@pytest.mark.parametrize(
    ("root", "wide"), [("/**", True), ("/*", True), ("/*/locks", True), ("/a/**", False)]
)
def test_a_root_whose_watch_would_be_on_everything_is_wide(root: str, *, wide: bool) -> None:
    """A wide root is searched instead of watched."""
    assert RootPattern(root).is_ensemble_wide is wide


@pytest.mark.parametrize(
    ("roots", "paths"),
    [
        ((), ["/**"]),
        (("/",), ["/**"]),
        (("/a/",), ["/a", "/a-__lock__"]),
        (("/a/*",), ["/a/*"]),
    ],
)
def test_roots_as_a_user_writes_them(roots: tuple[str, ...], paths: list[str]) -> None:
    """No root means everything; an exact root includes a semaphore's queue beside it."""
    assert [pattern.path for pattern in root_patterns(roots)] == paths


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("lock-0000000007", True),
        ("lock--000000007", True),
        ("9f1c0e6a7b8c4d5e9f1c0e6a7b8c4d5e", True),
        ("_c_0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f-lease-x", True),
        ("orders", False),
        ("leases", False),
        ("shard-12", False),
    ],
)
def test_a_contender_is_distinguished_from_a_folder(name: str, *, place: bool) -> None:
    """A contender has a sequence number at its end, or a uuid."""
    assert looks_like_a_member(name) is place
