"""Export reports from the UI: as JSON, text, DOT or Mermaid, or a period as a recording."""

import io
from collections.abc import Collection, Sequence

import msgspec

from zktop.app.record_file import header_of
from zktop.model.facts import Millis
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.output import snapshot_text
from zktop.output.dot_and_mermaid import dot, mermaid
from zktop.output.snapshot_json import snapshot
from zktop.recording import clip
from zktop.ui.interfaces import Past


class ReportExports:
    """Writes reports of one ensemble in the formats of `zktop snapshot` and `zktop record`."""

    def __init__(
        self, hosts: str | None, chroot: str = "", connection: Sequence[str] = ()
    ) -> None:
        self._hosts, self._chroot, self.connection = hosts, chroot, connection

    def export(self, report: Report, form: str) -> str:
        exported = snapshot(report, self._hosts, self._chroot)
        if form == "json":
            return msgspec.json.format(msgspec.json.encode(exported), indent=2).decode() + "\n"
        lines = {"text": snapshot_text.lines, "dot": dot, "mermaid": mermaid}[form]
        return "".join(f"{line}\n" for line in lines(exported))

    def excerpt(self, report: Report, paths: Collection[str], source: str) -> str:
        return "\n".join(snapshot_text.lines(snapshot(part_of(report, paths), source)))

    def clip(self, past: Past, settings: Settings, opens_at: Millis) -> bytes:
        file = io.BytesIO()
        hosts = (self._hosts or "") + self._chroot
        clip(past, file, header_of(hosts, settings, opens_at=opens_at))
        return file.getvalue()


def part_of(report: Report, paths: Collection[str]) -> Report:
    """Return a report of these locks only, with their deadlocks and findings."""
    wanted = frozenset(map(Text, paths))
    return msgspec.structs.replace(
        report,
        records=PersistentMap(
            {path: record for path in wanted if (record := report.records.get(path))}
        ),
        paths=tuple(path for path in sorted(wanted) if path in report.records),
        deadlocks=tuple(
            deadlock for deadlock in report.deadlocks if not wanted.isdisjoint(deadlock.locks)
        ),
        findings=tuple(
            finding for finding in report.findings if not wanted.isdisjoint(finding.locks)
        ),
    )
