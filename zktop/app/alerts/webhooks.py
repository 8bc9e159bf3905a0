"""Post findings to webhooks: each address has a thread that sends and retries.

The caller's thread only looks at reports and never waits for a receiver. While a receiver fails,
the newest state of each finding stays in memory, and is sent as soon as the receiver answers.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.client import HTTPException, InvalidURL
from itertools import islice
from pathlib import Path
from typing import Final, Self
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec

from zktop.config.files import expanded
from zktop.config.join_sources import EffectiveConfig
from zktop.config.keys_and_defaults import WebhookSection
from zktop.errors import cannot_write
from zktop.model.format import count
from zktop.model.report import Report
from zktop.output.finding_alerts import FindingAlerts, WebhookAlert, webhook_body

POST_TIMEOUT_S: Final = 10.0
FIRST_RETRY_S: Final = 1.0
LAST_RETRY_S: Final = 60.0
CLOSE_S: Final = 3.0  # for all webhooks together, to send what is left when zktop ends
MAX_ALERTS_PER_POST: Final = 100
MAX_WAITING_ALERTS: Final = 10_000  # then the oldest are dropped
SCHEMES: Final = ("http://", "https://")
RETRIED: Final = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
Complain = Callable[[str], None]


class Webhooks:
    """All webhooks of one cluster, within a `with` block."""

    def __init__(
        self,
        sections: Sequence[WebhookSection],
        cluster: str,
        complain: Complain,
        firing_file: Path | None = None,
    ) -> None:
        """Start a thread for each. `complain` is called in these threads and in that of `look`.

        `firing_file` keeps the alerts that are not posted as resolved, for the next run.
        """
        earlier = _read_firing(firing_file) if firing_file is not None else {}
        self._hooks = [Webhook(section, cluster, complain, earlier) for section in sections]
        self._complain, self._firing_file = complain, firing_file
        self._is_unwritable = False

    @classmethod
    def of(
        cls, effective: EffectiveConfig, complain: Complain, firing_file: Path | None = None
    ) -> Self:
        """Return the webhooks of a command's config."""
        return cls(effective.config.webhooks, effective.cluster_name, complain, firing_file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def look(self, report: Report) -> None:
        """Send the alerts that this report changes."""
        has_changed = [hook.look(report) for hook in self._hooks]
        if any(has_changed):
            self._remember()

    def close(self) -> None:
        """Send what is left, for at most CLOSE_S."""
        for hook in self._hooks:
            hook.end()
        deadline = time.monotonic() + CLOSE_S
        for hook in self._hooks:
            hook.wait(max(0.0, deadline - time.monotonic()))
        if self._hooks:
            self._remember()

    def _remember(self) -> None:
        """Write the file. Complain about a failure once, and try again at the next change."""
        if self._firing_file is None:
            return
        alerts = {id_: alert for hook in self._hooks for id_, alert in hook.unresolved().items()}
        try:
            _write_firing(self._firing_file, alerts)
        except OSError as error:
            if not self._is_unwritable:
                self._complain(str(cannot_write(self._firing_file, error)))
            self._is_unwritable = True
        else:
            self._is_unwritable = False


class Webhook:
    """Sends alerts to one address."""

    def __init__(
        self,
        section: WebhookSection,
        cluster: str,
        complain: Complain,
        earlier: Mapping[str, WebhookAlert],
    ) -> None:
        self._section, self._cluster, self._complain = section, cluster, complain
        self._findings = FindingAlerts(cluster, section.severity, earlier)
        self._is_checked = False
        self._missing = ""  # the missing secret that the check before any post complained about
        # The oldest first.
        self._waiting = {alert.fingerprint: alert for alert in self._findings.ended}
        self._has_news = threading.Condition()
        self._is_over = threading.Event()
        self._is_failing = False
        self._opener = build_opener(_NoRedirect)
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()

    def unresolved(self) -> Mapping[str, WebhookAlert]:
        """Return the firing alerts by finding id, and the ended ones still to be posted."""
        with self._has_news:
            ended = {
                key: alert for key, alert in self._waiting.items() if alert.status == "resolved"
            }
        return {**ended, **self._findings.firing}

    def look(self, report: Report) -> bool:
        """Send the alerts that this report changes. Return whether there are any."""
        if not self._is_checked:
            self._check_secrets()
        alerts = self._findings.after(report)
        if not alerts:
            return False
        with self._has_news:
            for alert in alerts:
                self._waiting.pop(alert.fingerprint, None)
                self._waiting[alert.fingerprint] = alert
            dropped = len(self._waiting) - MAX_WAITING_ALERTS
            for fingerprint in [*self._waiting][: max(0, dropped)]:
                del self._waiting[fingerprint]
            self._has_news.notify()
        if dropped > 0:
            self._complain(
                f"webhook: {dropped} old alerts were dropped, because too many wait to be sent."
            )
        return True

    def _check_secrets(self) -> None:
        """Complain about a missing secret at the first report, not at the first incident."""
        self._is_checked = True
        try:
            for written in filter(None, (self._section.url, self._section.token)):
                secret(written)
        except (OSError, ValueError) as error:
            self._missing = _sentence(error)
            self._complain(f"webhook: {self._missing}.")

    def end(self) -> None:
        """Make the thread send what is waiting, then end. It does not retry a failed post."""
        self._is_over.set()
        with self._has_news:
            self._has_news.notify()

    def wait(self, seconds: float) -> None:
        """Wait for the thread, but no longer than this."""
        self._thread.join(seconds)

    def _run(self) -> None:
        pause_s = FIRST_RETRY_S
        while alerts := self._next():
            try:
                self._post(alerts)
            except _RefusedError as error:
                self._report(f"{error}; {count(len(alerts), 'alert')} dropped")
            except (OSError, HTTPException, ValueError) as error:
                self._report(_sentence(error))
                if self._is_over.wait(pause_s):
                    return
                pause_s = min(2 * pause_s, LAST_RETRY_S)
                continue
            else:
                self._report("")
                pause_s = FIRST_RETRY_S
            self._remove(alerts)

    def _next(self) -> list[WebhookAlert]:
        """Wait for alerts and return the oldest, or none after `end` if none are left."""
        with self._has_news:
            self._has_news.wait_for(lambda: self._waiting or self._is_over.is_set())
            return [*islice(self._waiting.values(), MAX_ALERTS_PER_POST)]

    def _remove(self, alerts: Sequence[WebhookAlert]) -> None:
        """Remove alerts that are done, unless newer ones have replaced them."""
        with self._has_news:
            for alert in alerts:
                if self._waiting.get(alert.fingerprint) is alert:
                    del self._waiting[alert.fingerprint]

    def _report(self, problem: str) -> None:
        """Complain about a failure once, and say when it is over."""
        if problem and not self._is_failing and problem != self._missing:
            self._complain(f"webhook: {problem}.")
        elif self._is_failing and not problem:
            self._complain("webhook: the receiver accepts alerts again.")
        self._is_failing, self._missing = bool(problem), ""

    def _post(self, alerts: Sequence[WebhookAlert]) -> None:
        """Post once. Raise _RefusedError if it is useless to try again."""
        headers = {"Content-Type": "application/json", "User-Agent": "zktop"}
        if self._section.token is not None:
            headers["Authorization"] = f"Bearer {secret(self._section.token)}"
        url = secret(self._section.url)
        if not url.startswith(SCHEMES):
            raise ValueError(f"the address begins with neither {' nor '.join(SCHEMES)}")
        request = Request(url, webhook_body(alerts, self._cluster), headers)  # noqa: S310  checked
        try:
            self._opener.open(request, timeout=POST_TIMEOUT_S).close()
        except HTTPError as error:
            if error.code < HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in RETRIED:
                raise _RefusedError(_sentence(error)) from error
            raise
        except (InvalidURL, ValueError):  # their messages may repeat a secret
            raise ValueError(
                "the address or the token has characters that HTTP does not allow"
            ) from None


class _RefusedError(Exception):
    """The receiver will never accept these alerts."""


class _NoRedirect(HTTPRedirectHandler):
    """Makes a redirection an error: a post would silently become a get."""

    def redirect_request(self, *_args: object) -> None:
        return None


def secret(written: str) -> str:
    """Return the value of `env:NAME` or the content of `file:PATH`, and other text as it is."""
    kind, _, name = written.partition(":")
    if kind == "file":
        return expanded(name).read_text(encoding="utf-8").strip()
    if kind != "env":
        return written
    if name not in os.environ:
        raise ValueError(f"the environment variable {name} is not set")
    return os.environ[name]


def _read_firing(file: Path) -> dict[str, WebhookAlert]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, WebhookAlert])
    except (OSError, msgspec.DecodeError):
        return {}  # no earlier run, or a damaged file


def _write_firing(file: Path, firing: Mapping[str, WebhookAlert]) -> None:
    new = file.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(firing))
    new.replace(file)


def _sentence(error: Exception) -> str:
    """Describe an error without the address, which may be a secret."""
    if isinstance(error, HTTPError):
        return f"the receiver answered {error.code} {error.reason}"
    if isinstance(error, URLError):
        return f"the receiver cannot be reached: {_reason(error.reason)}"
    if isinstance(error, HTTPException):
        return f"the receiver's answer is not HTTP ({type(error).__name__})"
    return _reason(error)


def _reason(error: object) -> str:
    if not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
