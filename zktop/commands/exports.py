"""A report in the shapes of `zktop snapshot`, or a stretch of time as a recording, for the UI."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zktop.model.report import Report
    from zktop.ui.ports import Frame


class Shapes:
    """JSON, text, DOT and Mermaid."""

    forms = ("json", "text", "dot", "mermaid")

    def __init__(self, hosts: str | None, chroot: str = "") -> None:
        self._hosts, self._chroot = hosts, chroot

    def export(self, report: "Report", form: str) -> str:
        """Write a report in one of these forms, as the command line would print it."""
        import msgspec  # noqa: PLC0415  the first frame needs nothing of all this

        from zktop.headless import graphs, text  # noqa: PLC0415
        from zktop.headless.snapshot import snapshot  # noqa: PLC0415

        shot = snapshot(report, self._hosts, self._chroot)
        if form == "json":
            return msgspec.json.format(msgspec.json.encode(shot), indent=2).decode() + "\n"
        lines = {"text": text.lines, "dot": graphs.dot, "mermaid": graphs.mermaid}[form]
        return "".join(f"{line}\n" for line in lines(shot))

    def clip(self, frames: "Sequence[Frame]") -> bytes:
        """Write these frames as a recording; it holds what was read, as every recording does."""
        import io  # noqa: PLC0415

        from zktop.commands.record import header_of  # noqa: PLC0415
        from zktop.recording import clip  # noqa: PLC0415

        file = io.BytesIO()
        header = header_of((self._hosts or "") + self._chroot, frames[-1].report.settings)
        clip(((frame.report.world, frame.at) for frame in frames), file, header)
        return file.getvalue()
