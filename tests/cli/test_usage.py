"""Wrong usage ends in one or two sentences on stderr, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from zktop.app import run_ui
from zktop.cli.main import SCREENS
from zktop.ui.screens import PAGES

WRONG = [
    ([], 2, "The terminal UI needs a terminal; `zktop snapshot` writes text or JSON."),
    (["3"], 2, "The terminal UI needs a terminal; `zktop snapshot` writes text or JSON."),
    (["9"], 2, 'There is no command "9". See `zktop --help`.'),
    (["layuots"], 2, 'There is no command "layuots". Did you mean layouts? See `zktop --help`.'),
    (["timelin"], 2, 'There is no command "timelin". Did you mean timeline? See `zktop --help`.'),
    (
        ["deadlocks"],
        2,
        'There is no command "deadlocks". Did you mean findings? See `zktop --help`.',
    ),
    (["learn"], 2, 'There is no command "learn". Did you mean demo? See `zktop --help`.'),
    (["xyz"], 2, 'There is no command "xyz". See `zktop --help`.'),
    (
        ["zk1:2181"],
        2,
        'There is no command "zk1:2181". Did you mean --hosts zk1:2181? See `zktop --help`.',
    ),
    (["\x1b[2J"], 2, 'There is no command "␛[2J". See `zktop --help`.'),
    (["--hots", "a"], 2, 'There is no option "--hots". Did you mean --hosts? See `zktop --help`.'),
    (["layouts", "--nope"], 2, 'There is no option "--nope". See `zktop layouts --help`.'),
    (["--hosts"], 2, "Option '--hosts' requires an argument. See `zktop --help`."),
    (
        ["schema", "snapshit"],
        2,
        (
            "Invalid value for '{snapshot|events|free|recording|report|config}': 'snapshit' is "
            "not one of 'snapshot', 'events', 'free', 'recording', 'report', 'config'. See `zktop "
            "schema --help`."
        ),
    ),
    (["--show-config", "--root", "locks"], 2, '--root: the root must start with /, got "locks"'),
    (
        ["--show-config", "--session-timeout", "soon"],
        2,
        '--session-timeout: expected a duration like 2s, 500ms or 5m, got "soon"',
    ),
    (
        ["--show-config", "--theme", "zktop-drak"],
        2,
        '--theme: there is no theme "zktop-drak" (did you mean zktop-dark?)',
    ),
    (
        ["--show-config", "--admin-port", "99999"],
        2,
        "--admin-port: must be at most 65535, got 99999",
    ),
    (
        ["--show-config", "--watch-budget", "0"],
        2,
        "--watch-budget: must be at least 1, got 0",
    ),
    (
        ["--show-config", "--introspect", "on"],
        2,
        '--introspect: expected auto or off, got "on"',
    ),
    (
        ["--show-config", "--auth", "s3cret"],
        2,
        "--auth: expected scheme:credentials, like digest:user:password",
    ),
    (
        ["--show-config", "--sasl", "DIGEST-MD5:me"],
        2,
        "--sasl: DIGEST-MD5 needs a username and a password",
    ),
    (
        ["--show-config", "--sasl", "PLAIN:me:secret"],
        2,
        '--sasl: expected DIGEST-MD5 or GSSAPI, got "PLAIN"',
    ),
    (
        ["--show-config", "--tls-key", "a.key"],
        2,
        "--tls-key: needs a certificate (cert or --tls-cert)",
    ),
    (
        ["--show-config", "--layout", "/locks"],
        2,
        '--layout: expected ROOT=NAME, like /locks/**=kazoo-lock, got "/locks"',
    ),
    *(
        (
            ["--read-only", name],
            2,
            f"`zktop {name}` starts demo clients; --read-only forbids it. See `zktop --help`.",
        )
        for name in ("demo", "scene", "contend")
    ),
    *(
        ([name, "--read-only"], 2, f"`zktop {name}` starts demo clients; --read-only forbids it.")
        for name in ("demo", "scene", "contend")
    ),
    (
        ["--show-config", "--cluster", "prod"],
        2,
        '--cluster: there is no cluster "prod"; a config file must define it',
    ),
    (
        ["--show-config", "--config", "nope.yaml"],
        2,
        "nope.yaml: cannot be read: No such file or directory",
    ),
    (
        ["demo", "--hosts", "zk1:2181"],
        2,
        (
            "This demo writes to zk1:2181, and without a terminal it cannot ask: give --text to "
            "allow that. Without --hosts it uses its own server."
        ),
    ),
    (
        ["free", "/locks/a", "--read-only"],
        2,
        'The option "--read-only" goes before the command: `zktop --read-only free`.',
    ),
    (
        ["contend", "kazoo-lock", "/app/lock"],
        2,
        (
            "demo clients write only below /zktop-demo, and /app/lock is not below it; choose "
            "another path, or give --anywhere"
        ),
    ),
    (
        ["events", "--from", "incident.zktop", "--duration", "60"],
        2,
        "--duration does not go with --from: use --at. See `zktop events --help`.",
    ),
    (
        ["layouts", "orders", "stock"],
        4,
        (
            'No known layout matches "orders" or "stock". '
            "Describe your own under `layouts` in the config file."
        ),
    ),
]


@pytest.mark.parametrize(("args", "code", "sentence"), WRONG)
def test_the_sentence_names_what_was_given(
    zktop: Callable[..., tuple[int, str, str]], args: list[str], code: int, sentence: str
) -> None:
    """Stdout stays empty, so that a pipe never gets an error as data."""
    assert zktop(*args) == (code, "", f"{sentence}\n")


def test_a_demo_on_an_ensemble_obeys_the_config(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """The error names the line that forbids writing."""
    (tmp_path / "c.yaml").write_text("demo:\n  allow: never\n")

    assert zktop("demo", "--config", "c.yaml", "--hosts", "zk1:2181") == (
        2,
        "",
        (
            "A demo writes to zk1:2181, and demo.allow is never (c.yaml:2). "
            "Without --hosts it uses its own server.\n"
        ),
    )


def test_a_refused_demo_says_what_to_leave_out(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment may name the ensemble, too."""
    (tmp_path / "c.yaml").write_text("demo:\n  allow: never\n")
    monkeypatch.setenv("ZKTOP_HOSTS", "zk1:2181")

    _, _, err = zktop("demo", "--config", "c.yaml")

    assert err.endswith("Without ZKTOP_HOSTS it uses its own server.\n")


def test_every_mistake_of_a_config_is_a_line(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Even for a command that needs only a part of it."""
    (tmp_path / "c.yaml").write_text("ui: { refresh: 0 }\nrots: []\n", encoding="utf-8")

    assert zktop("layouts", "--config", "c.yaml") == (
        2,
        "",
        (
            "c.yaml:1: ui.refresh: must be at least 1, got 0\n"
            "c.yaml:2: rots: unknown key (did you mean roots?)\n"
        ),
    )


@pytest.mark.parametrize("options", [(), ("--show-config",)])
def test_mistakes_in_keys_are_listed_with_all_others(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path, options: tuple[str, ...]
) -> None:
    """One of them does not hide the others until it is corrected."""
    text = "roots: [a]\nui:\n  keys: { quitt: q }\n  theme: nope\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")

    code, out, err = zktop("--config", "c.yaml", *options)

    assert (code, out) == (2, "")
    assert [line.split(":")[1] for line in err.splitlines()] == ["1", "3", "4"]


def test_a_config_that_cannot_be_examined_is_reported_as_unreadable(
    zktop: Callable[..., tuple[int, str, str]],
) -> None:
    """Why it cannot be read is its only mistake."""
    name = 300 * "a"

    assert zktop("--config", name, "--show-config") == (
        2,
        "",
        f"{name}: cannot be read: File name too long\n",
    )


def test_all_mistakes_of_a_config_in_the_home_folder_are_listed(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell leaves a `~` within an option to zktop."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text = "roots: [a]\nui:\n  keys: { quitt: q }\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")

    code, _, err = zktop("--config=~/c.yaml", "--show-config")

    assert (code, [line.split(":")[1] for line in err.splitlines()]) == (2, ["1", "3"])


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ([], "locks"),
        (["3"], "findings"),
        (["sessions", "--hosts", "zk7:2181"], "sessions"),
        (["--hosts", "zk7:2181", "5"], "timeline"),
    ],
)
def test_the_ui_opens_with_a_screen(
    zktop: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    page: str,
) -> None:
    """By its name or number; the options may be on either side."""
    opened = []
    monkeypatch.setattr(run_ui, "run_live_ui", lambda *given: opened.append(given) or 0)

    assert zktop(*words)[0] == 0
    ((effective, *_, shown),) = opened
    assert (shown, effective.config.hosts) == (page, "zk7:2181" if words[1:] else "127.0.0.1:2181")


def test_names_and_numbers_of_screens_are_those_of_the_ui() -> None:
    """All but the one that needs demo clients, whose name is a command."""
    pages = [(page.name, page.key) for page in PAGES if not page.needs_contenders]

    assert pages == [(name, str(number)) for number, name in enumerate(SCREENS, start=1)]


def test_show_config_runs_no_command(zktop: Callable[..., tuple[int, str, str]]) -> None:
    """Its table would be mixed with the data of the command."""
    alone = zktop("--show-config")

    assert alone[0] == 0
    assert zktop("--show-config", "snapshot", "--hosts", "127.0.0.1:1") == alone


@pytest.mark.parametrize(
    "command", [("--show-config",), ("layouts",), ("snapshot",), ("check",), ("demo", "--text")]
)
def test_a_layout_that_cannot_work_is_refused_by_every_command(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Before it connects, with the file, the line and a suggestion."""
    text = "layouts:\n  - name: ours\n    pattern: '^job-{SEK}$'\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")

    assert zktop(*command, "--config", "c.yaml") == (
        2,
        "",
        "c.yaml:3: layouts[0].pattern: unknown macro {SEK} (did you mean {SEQ}?)\n",
    )
