"""The terminal UI on a live ensemble: joins the feed, the stage and the screens.

How the UI looks, from the settings: all that is wrong with them is said before it is shown.

A report in the shapes of `zktop snapshot`, or a stretch of time as a recording, for the UI.

The user's own command, run when there is new trouble.

It is started without a shell, and what is told comes in an environment variable and on its
standard input: nothing that somebody wrote into a znode can become a part of the command.

What is made when it is first used, so that the first frame need not wait for it.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec.structs import replace
from rich.console import Console
from textual.theme import BUILTIN_THEMES, Theme

from zktop.cli.options import Wanted
from zktop.config import themes
from zktop.config.load import EffectiveConfig
from zktop.config.tree import DEFAULT, ConfigError, ConfigMistake
from zktop.config.types import Config
from zktop.errors import UsageError
from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.settings import SECOND, Root
from zktop.model.text import nearest
from zktop.output.snapshot import finding_json
from zktop.ui.app import Zktop
from zktop.ui.keys import KEYS, key_mistakes, remapped
from zktop.ui.ports import ContendersPort, Feed, FindingHook
from zktop.ui.settings import UiSettings
from zktop.ui.styled_text import INKS
from zktop.ui.themes import PLAIN, NamedTheme, ThemeList

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from zktop.app.contenders import Contenders
    from zktop.app.feeds import LiveFeed
    from zktop.model.facts import Session
    from zktop.model.report import Report
    from zktop.ui.ports import Frame

_LOOKS = (*INKS, "cursor")
_FEW_COLOURS = "standard"  # as Rich calls the sixteen


def ui_look(effective: EffectiveConfig, environment: Mapping[str, str]) -> UiSettings:
    """Tell how the UI looks, or say all that cannot be."""
    ui = effective.config.ui
    refuse(effective)
    name = ui.theme
    if effective.origin("ui.theme") == DEFAULT and _has_few_colours():
        name = PLAIN
    return UiSettings(
        theme=design_of(themes.theme_named(name, environment, _LOOKS)).theme,
        themes=partial(wardrobe, environment),
        refresh=ui.refresh,
        table=remapped(ui.keys),
        changed_keys=frozenset(ui.keys),
        bell=ui.bell,
        herald=_herald(ui.command) if ui.command else None,
        is_ascii=is_ascii(environment),
        log=state_folder(environment) / "ui.log",
    )


def _herald(command: str) -> FindingHook:

    return FindingCommand(command)


def refuse(effective: EffectiveConfig) -> None:
    """Raise when settings of the UI are wrong, and say everything that is."""
    wrong = [
        ConfigMistake(effective.origin(key), key, what)
        for key, what in _wrong(effective.config.ui.keys)
    ]
    command = effective.config.ui.command
    if command is not None:
        try:
            shlex.split(command)
        except ValueError as error:
            what = f"is no command: {str(error).lower()}"
            wrong.append(ConfigMistake(effective.origin("ui.command"), "ui.command", what))
    if wrong:
        raise ConfigError(wrong)


def wardrobe(environment: Mapping[str, str]) -> ThemeList:
    """Read all themes, as their files are now."""
    found = themes.all_themes(environment, _LOOKS)
    return ThemeList(
        tuple(map(design_of, found.usable)), tuple(str(one) for one in found.mistakes)
    )


def design_of(theme: themes.ThemeFile) -> NamedTheme:
    """Give a theme as Textual wants it."""
    base = BUILTIN_THEMES["ansi-dark" if theme.dark else "ansi-light"].variables
    made = Theme(
        name=theme.name,
        dark=theme.dark,
        ansi=theme.ansi,
        variables={
            **(base if theme.ansi else {}),  # what Textual's own widgets need besides
            **{f"ink-{name}": look for name, look in theme.inks.items()},
        },
        **theme.colours,  # type: ignore[arg-type]  # colours only: the keys say so
    )
    return NamedTheme(made, theme.about)


def state_folder(environment: Mapping[str, str]) -> Path:
    """Give the folder for what is worth keeping and no setting."""
    base = environment.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(base) / "zktop"


def is_ascii(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal takes nothing but ASCII, or was said to."""
    said = environment.get("ZKTOP_ASCII", "")
    encoding = (getattr(sys.__stderr__, "encoding", "") or "").casefold()
    return said not in ("", "0") or "utf" not in encoding


def _wrong(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = [key.id for key in KEYS]
    for action in keys:
        if action not in known:
            meant = nearest(action, known)
            hint = f"did you mean {meant}?" if meant else f"known: {', '.join(known)}"
            yield f"ui.keys.{action}", f"there is no such action ({hint})"
    good = {action: text for action, text in keys.items() if action in known}
    yield from ((f"ui.keys.{action}", what) for action, what in key_mistakes(good))


def _has_few_colours() -> bool:
    if "NO_COLOR" in os.environ:
        return False
    return Console(file=sys.__stderr__, force_terminal=True).color_system == _FEW_COLOURS


class ReportExports:
    """JSON, text, DOT and Mermaid."""

    forms = ("json", "text", "dot", "mermaid")

    def __init__(self, hosts: str | None, chroot: str = "") -> None:
        self._hosts, self._chroot = hosts, chroot

    def export(self, report: "Report", form: str) -> str:
        """Write a report in one of these forms, as the command line would print it."""
        import msgspec  # noqa: PLC0415  the first frame needs nothing of all this

        from zktop.output import graphs, text  # noqa: PLC0415
        from zktop.output.snapshot import snapshot  # noqa: PLC0415

        shot = snapshot(report, self._hosts, self._chroot)
        if form == "json":
            return msgspec.json.format(msgspec.json.encode(shot), indent=2).decode() + "\n"
        lines = {"text": text.lines, "dot": graphs.dot, "mermaid": graphs.mermaid}[form]
        return "".join(f"{line}\n" for line in lines(shot))

    def clip(self, frames: "Sequence[Frame]") -> bytes:
        """Write these frames as a recording; it holds what was read, as every recording does."""
        import io  # noqa: PLC0415

        from zktop.cli.record import header_of  # noqa: PLC0415
        from zktop.recording import clip  # noqa: PLC0415

        file = io.BytesIO()
        header = header_of((self._hosts or "") + self._chroot, frames[-1].report.settings)
        clip(((frame.report.world, frame.at) for frame in frames), file, header)
        return file.getvalue()


LONGEST_S: Final = 10.0
AT_ONCE: Final = 4  # commands that may run side by side
SENTENCE: Final = "ZKTOP_SENTENCE"


class FindingCommand:
    """Runs one command for each finding; says what went wrong with it."""

    def __init__(self, command: str, longest_s: float = LONGEST_S) -> None:
        """Take the command apart as a shell would; a ValueError says why that cannot be."""
        self._words = shlex.split(command)
        if not self._words:
            raise ValueError("names no command")
        self._longest_s = longest_s
        self._guard = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def call(self, finding: Finding, complain: Callable[[str], None]) -> None:
        """Start it; `complain` is called from another thread."""
        with self._guard:
            if len(self._running) >= AT_ONCE:
                return complain(f"{self._words[0]} is still busy: it was not told of this one.")
            try:
                process = self._started(finding)
            except OSError as error:
                return complain(f"{self._words[0]} could not be started: {error.strerror}.")
            self._running.add(process)
        told = msgspec.json.encode(finding_json(finding))
        threading.Thread(
            target=self._follow, args=(process, told, complain), name="herald", daemon=True
        ).start()
        return None

    def close(self) -> None:
        """End what still runs."""
        with self._guard:
            for process in self._running:
                _end(process)

    def _started(self, finding: Finding) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603  no shell; the words are the user's own
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, SENTENCE: finding.sentence},
            start_new_session=True,  # so that all that it starts can be ended with it
        )

    def _follow(
        self, process: "subprocess.Popen[bytes]", told: bytes, complain: Callable[[str], None]
    ) -> None:
        try:
            process.communicate(told, timeout=self._longest_s)
        except subprocess.TimeoutExpired:
            _end(process)
            process.wait()
            complain(f"{self._words[0]} took longer than {self._longest_s:g}s and was ended.")
        else:
            if process.returncode > 0:
                complain(f"{self._words[0]} failed with exit code {process.returncode}.")
        finally:
            with self._guard:
                self._running.discard(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


class Lazy:
    """Stands for something whose parts take long to import; made by whoever asks first.

    >>> one = Lazy(lambda: "made late", name="known at once")
    >>> one.name, one.upper()
    ('known at once', 'MADE LATE')
    """

    def __init__(self, make: Callable[[], Any], **known: object) -> None:
        """Know some attributes already."""
        self.__dict__.update(known)
        self._make = make
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        """Ask the real one."""
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)


SAMPLE_EVERY_S = 2.0


def run_live_ui(wanted: Wanted) -> int:
    """Show an ensemble until the user has seen enough."""
    require_terminal("zktop snapshot")
    effective = wanted.effective()
    return _run_live(effective.config, ui_look(effective, os.environ))


def run_demo_ui(
    effective: EffectiveConfig,
    config: Config,
    scene: str,
    hosts: str | None,
    duration: Millis | None,
) -> int:
    """Show an ensemble with a scene on it; without a length of time until the user leaves."""
    require_terminal("zktop demo --text")
    look = ui_look(effective, os.environ)
    leave_after_s = None if duration is None else duration / SECOND
    look = replace(look, page="demo", scene=scene, leave_after_s=leave_after_s)
    return _run_live(config, look, hosts)


def _run_live(config: Config, look: UiSettings, own_server: str | None = None) -> int:
    """Show an ensemble; what reads it, and who contends in it, comes after the first frame."""
    can_write = own_server is not None or config.demo.allow != "never"
    stage = Lazy(lambda: _troupe(config, own_server)) if can_write else None
    feed = Lazy(
        lambda: live_feed(config, lambda: cast("Contenders", stage).sessions if stage else ()),
        name=config.hosts,
        is_live=True,
    )
    return run(cast("Feed", feed), cast("ContendersPort | None", stage), config, look)


def _troupe(config: Config, own_server: str | None) -> "Contenders":
    from zktop.app.contenders import Contenders  # noqa: PLC0415  after the first frame

    return Contenders(config, own_server)


def live_feed(config: Config, ours: "Callable[[], Collection[Session]]") -> "LiveFeed":
    """Give the feed of an ensemble in which contenders of ours may be.

    Whoever names roots sees those, and what contenders of ours do below the demo root.
    """
    from zktop.app.connect import access_of, plan_of  # noqa: PLC0415  after the first frame
    from zktop.app.feeds import LiveFeed  # noqa: PLC0415

    if config.roots:
        config = replace(config, roots=(*config.roots, Root(f"{config.demo.root}/**")))
    plan = plan_of(config, SAMPLE_EVERY_S)
    return LiveFeed(config.hosts, access_of(config), plan, config.settings(), ours)


def run(feed: Feed, stage: ContendersPort | None, config: Config, look: UiSettings) -> int:
    """Run the UI; afterwards nothing of it is left."""
    hosts, slash, chroot = config.hosts.partition("/")
    app = Zktop(feed, stage, ReportExports(hosts, slash + chroot), look)
    try:
        code = app.run()
    finally:
        feed.stop()
        if stage is not None:
            stage.close()
        if look.herald is not None:
            look.herald.close()
    return code if code is not None else app.return_code or 0


def require_terminal(instead: str) -> None:
    """Refuse to paint into a file or a pipe."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    is_terminal = all(stream is not None and stream.isatty() for stream in streams)
    if not is_terminal or os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(f"The terminal UI needs a terminal; `{instead}` writes text or JSON.")
