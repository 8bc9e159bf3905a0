"""A headless Chromium, driven through its debugging pipe: messages are JSON that ends in NUL."""

import json
import os
import shutil
import signal
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PROGRAM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
_CHUNK = 1 << 16


class Browser:
    """One page of a browser; `events` are what it said without being asked."""

    def __init__(self, commands: int, answers: int) -> None:
        """Attach to a new page."""
        self._commands, self._answers = commands, answers
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, file: Path) -> None:
        """Open a page from disk and wait until it is drawn."""
        self.events.clear()
        self.ask("Page.navigate", url=file.absolute().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression in the page is true."""
        promise = f"""new Promise((done) => {{
            const look = () => (({script}) ? done(true) : setTimeout(look, 10));
            look();
        }})"""
        found = self.ask("Runtime.evaluate", expression=promise, awaitPromise=True)
        assert "exceptionDetails" not in found, found

    def press(self, key: str) -> None:
        """Press a key, such as ArrowRight."""
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "Enter": 13, "Tab": 9}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                **(text if kind == "keyDown" else {}),
            )

    def prefers(self, **features: str) -> None:
        """Set what the user prefers, such as `color_scheme="dark"`; `media="print"` prints."""
        media = features.pop("media", "")
        wanted = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.ask("Emulation.setEmulatedMedia", media=media, features=wanted)

    def resize(self, width: int, height: int) -> None:
        """Give the page this size."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def picture(self, file: Path, width: int, height: int) -> None:
        """Write a picture of the page as PNG."""
        self.resize(width, height)
        file.write_bytes(b64decode(self.ask("Page.captureScreenshot")["data"]))

    def close(self) -> None:
        """End the browser and wait until it has closed its pipe."""
        self._session = None
        self.ask("Browser.close")
        while os.read(self._answers, _CHUNK):
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = os.read(self._answers, _CHUNK)
            assert chunk, "the browser has ended"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser while the block runs."""
    assert PROGRAM, "no Chromium on this machine: is this test marked `chromium`?"
    commands_out, commands = os.pipe()
    answers, answers_in = os.pipe()
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        Path(os.devnull).open("wb") as nowhere,
    ):
        pipes = {
            commands_out: 3,
            answers_in: 4,
            nowhere.fileno(): 2,
        }  # where Chromium expects them
        process = os.posix_spawn(
            PROGRAM,
            [PROGRAM, *OPTIONS, f"--user-data-dir={profile}"],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, *pair) for pair in pipes.items()],
        )
        os.close(commands_out)
        os.close(answers_in)
        try:
            opened = Browser(commands, answers)
            yield opened
            opened.close()
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(commands)
            os.close(answers)


if __name__ == "__main__":  # browser.py PAGE.html PICTURE.png WIDTH HEIGHT: draw a page
    _, page, picture, *size = sys.argv
    with browser() as drawing:
        drawing.prefers(color_scheme="light")
        drawing.ask("Emulation.setScrollbarsHidden", hidden=True)
        drawing.open(Path(page))
        drawing.until("document.querySelector('footer')")
        drawing.picture(Path(picture), *map(int, size))
