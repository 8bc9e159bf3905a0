"""A lock as text for somebody else: its head, the place that was chosen, and the first places."""

from zktop.ui.draw.chosen import chosen_lines
from zktop.ui.draw.lock_head import lock_head
from zktop.ui.draw.lock_notes import lock_notes
from zktop.ui.draw.places import age_of, blocked_by, identity, mode, position, state, watches
from zktop.ui.draw.queue import QueueRow
from zktop.ui.draw.scene import LockScene
from zktop.ui.ink import joined, text_of

WIDTH = 120
PLACES = 50


def lock_text(scene: LockScene, row: QueueRow | None) -> str:
    """Write it."""
    number = min(PLACES, len(scene.lineup))
    rows = [QueueRow(scene, place, 1, "") for place in range(number)]
    cells = (position, mode, identity, age_of, blocked_by, watches, state)
    lines = [
        *lock_head(scene, WIDTH),
        *(joined(cell(one) for cell in cells) for one in rows),
        *chosen_lines(row, WIDTH, with_data=False),
        *lock_notes(scene, WIDTH),
    ]
    told = [text_of(one).rstrip() for one in lines]
    if len(scene.lineup) > number:
        told.append(f"... {len(scene.lineup) - number} more places")
    return "\n".join(told)
