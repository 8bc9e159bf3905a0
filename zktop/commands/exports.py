"""A report in the shapes of `zktop snapshot`, for the UI to write into files."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zktop.model.report import Report


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
