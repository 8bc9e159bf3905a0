"""What the shell offers where an argument is one of ours."""

import click
from click.shell_completion import CompletionItem

from zktop.demo.scenes import SCENES


def scenes(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Give the scenes whose names begin so."""
    return [
        CompletionItem(scene.name, help=scene.title)
        for scene in SCENES
        if scene.name.startswith(begun)
    ]
