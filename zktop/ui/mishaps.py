"""When a drawing fails, the rest goes on: what to say of it, and the details in a file.

A monitor that dies of one odd lock is of no use to somebody who needs it now. So the error is
named where nobody can miss it, and all that a maintainer needs is written down, once for each.
"""

import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from zktop.model.text import clean

LONGEST_SAID: Final = 60  # characters of an error's own words
LARGEST: Final = 1_000_000  # bytes of details that are worth keeping


class Mishaps:
    """Notes errors; says each in one sentence."""

    def __init__(self, file: Path | None = None) -> None:
        """Write details into this file, if there is one."""
        self.file = file
        self.last: Exception | None = None
        self._known: dict[str, str] = {}  # and what was said of it

    def note(self, what: str, error: Exception) -> str:
        """Give the sentence for an error; the details are written when it is met first."""
        self.last = error
        where = traceback.extract_tb(error.__traceback__)[-1:]
        name = f"{what} {type(error).__name__} {[(one.filename, one.lineno) for one in where]}"
        if name not in self._known:
            short = clean(f"{type(error).__name__}: {error}")[:LONGEST_SAID]
            said = f"{what} failed ({short}); everything else goes on."
            self._known[name] = f"{said} {self._written(what, error)}".rstrip()
        return self._known[name]

    def _written(self, what: str, error: Exception) -> str:
        if self.file is None:
            return ""
        told = "".join(traceback.format_exception(error))
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists() and self.file.stat().st_size > LARGEST:
                return f"Details are not written: {self.file} is full."
            with self.file.open("a", encoding="utf-8", errors="backslashreplace") as out:
                out.write(f"{datetime.now(UTC).isoformat()} {what} failed\n{told}\n")
        except OSError as problem:
            return f"Details could not be written to {self.file}: {problem.strerror}."
        return f"Details are in {self.file}"
