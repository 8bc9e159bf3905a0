"""Write recordings: the header, the past before the first fact, a file that survives errors."""

import contextlib
import io
import queue
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from zktop.app.live_run import LiveRun
from zktop.model.facts import Millis, SourceFact
from zktop.model.settings import Settings
from zktop.model.world.world import World, facts_between
from zktop.recording import Header, Recorder, write_looks

OnError = Callable[[Path, OSError], None]


def name_and_version() -> str:
    """Return the name and the version of this program, for recordings and reports."""
    from importlib.metadata import version  # noqa: PLC0415  slow, and not for the first frame

    return f"zktop {version('zktop')}"


def recorder_of(file: "FailsafeFile", run: LiveRun, *, redact: bool = True) -> Recorder:
    """Return a recorder that writes the facts of a live run."""
    header = header_of(str(run.access.hosts), run.settings, redact=redact)
    return Recorder(cast("IO[bytes]", file), header)


def header_of(
    hosts: str, settings: Settings, *, redact: bool = True, opens_at: Millis | None = None
) -> Header:
    """Return the first line of a recording."""
    return Header(
        tool=name_and_version(),
        hosts=hosts,
        roots=[root.path for root in settings.roots],
        redacted=redact,
        settings=settings,
        opens_at=opens_at,
    )


class RecorderWithPast:
    """A recorder that begins with earlier worlds, and writes in a thread.

    A long past of many locks takes seconds to write. Facts read in the meantime are written after
    it.
    """

    def __init__(
        self, recorder: Recorder, past: Iterable[tuple[World, Millis]], world: World
    ) -> None:
        """Start to write the past, then what changed from its end to `world`."""
        self._recorder = recorder
        self._writes: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._writes.put(partial(self._write_past, past, world))
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def facts(self, facts: Iterable[SourceFact]) -> None:
        self._writes.put(partial(self._recorder.facts, tuple(facts)))

    def look(self, at: Millis, *, thorough: bool = True) -> None:
        self._writes.put(partial(self._recorder.look, at, thorough=thorough))

    def close(self) -> None:
        """Write what is left. The caller closes the file."""
        self._writes.put(None)
        self._thread.join()
        self._recorder.close()

    def _run(self) -> None:
        while (write := self._writes.get()) is not None:
            write()

    def _write_past(self, past: Iterable[tuple[World, Millis]], world: World) -> None:
        last = write_looks(self._recorder, past)
        self._recorder.facts(tuple(facts_between(last, world)))


class FailsafeFile(io.RawIOBase):
    """Reports the first write error, then discards further writes.

    A full disk ends the recording. `on_error` decides whether the run ends, too.
    """

    def __init__(self, file: BinaryIO, on_error: OnError) -> None:
        super().__init__()
        self._file, self._on_error = file, on_error
        self.has_failed = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Write the data, or discard it after an error. Always return its length."""
        self._try(lambda: self._file.write(data))
        return len(data)

    def flush(self) -> None:
        if not self.closed:
            self._try(self._file.flush)

    def close(self) -> None:
        if not self.closed:
            super().close()  # flushes first
            with contextlib.suppress(OSError):  # already reported by the flush
                self._file.close()

    def _try(self, write: Callable[[], object]) -> None:
        if self.has_failed:
            return
        try:
            write()
        except OSError as error:
            self.has_failed = True
            self._on_error(Path(self._file.name), error)
