"""R8 and R9: roots that do not exist, and roots that an ACL hides."""

from collections.abc import Iterator

from zktop.model.findings.context import EnsembleContext
from zktop.model.findings.finding import FindingSubject, RuleMatch, RuleResult, rule
from zktop.model.format import count, short
from zktop.model.world.ensemble import Ensemble
from zktop.model.world.roots import DeniedRoot, denied_roots, missing_roots


@rule(
    "R8",
    "root-missing",
    "warning",
    "whole",
    needs=("names",),
    means="A root that was asked for does not exist, so zktop sees no locks there.",
)
def root_missing(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Find missing roots, and the name that the user may have meant."""
    for root in missing_roots(ctx.world, ctx.shared.settings):
        path = short(root.absent)
        where = "" if root.root == root.absent else f" (root {short(root.root)})"
        meant = f" Did you mean {short(root.meant)}?" if root.meant else ""
        yield RuleMatch(
            about=FindingSubject(key=("root", root.root)),
            sentence=f"{path} does not exist (yet){where}.{meant}",
            confidence="C4",
            evidence=((True, f"the ensemble has no znode {path}"),),
            advice="Check --root, or the roots of the config. zktop keeps watching: its locks "
            "show up as soon as it exists.",
        )


@rule(
    "R9",
    "root-denied",
    "warning",
    "whole",
    needs=("names",),
    means="An ACL does not let zktop list a root, so the locks below it are hidden.",
)
def root_denied(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Find roots that zktop may not list, and count what they hide."""
    for root in denied_roots(ctx.world, ctx.shared.settings):
        yield RuleMatch(
            about=FindingSubject(key=("root", root.root)),
            sentence=f"zktop may not list {short(root.base)} (root {short(root.root)}): "
            f"{_hidden(root)} hidden. {_shown_elsewhere(root, ctx.shared.ensemble)}",
            confidence="C4",
            evidence=((True, "the server refused: no READ permission"),),
            advice="Give zktop an identity that may read the locks (--auth).",
        )


def _hidden(root: DeniedRoot) -> str:
    if root.children is None:
        return "all its children are"
    return count(root.children, "child is", "children are")


def _shown_elsewhere(root: DeniedRoot, ensemble: Ensemble) -> str:
    """What the servers' tables show below a root: they are not subject to its ACL."""
    below = f"{root.base}/"
    found = [
        (path, session)
        for one in ensemble.tables
        for rows in ((one.watches.rows if one.watches else {}), one.expiry.ephemerals or {})
        for session, paths in rows.items()
        for path in paths
        if path.startswith(below)
    ]
    if not found:
        return "The servers' tables show nothing below it."
    paths = count(len({path for path, _ in found}), "path")
    sessions = count(len({session for _, session in found}), "session")
    return f"Watch tables and dumps show {paths} of {sessions} below it."
