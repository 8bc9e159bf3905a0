"""The choice of a theme: worn while the cursor is on it; escape puts the old one back."""

from typing import TYPE_CHECKING

from zktop.ui.dialogs.choice import Choice, Option
from zktop.ui.themes import Wardrobe, wear

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


class ChooseTheme(Choice):
    """Gives the name of the theme that is worn from now on."""

    def __init__(self, wardrobe: Wardrobe, worn: str) -> None:
        options = [
            Option(one.theme.name, one.about, _about(one.about)) for one in wardrobe.designs
        ]
        super().__init__("Theme", options, worn)
        self._themes = {one.theme.name: one.theme for one in wardrobe.designs}
        self._worn = worn

    def rests(self) -> None:
        """Try on what the cursor rests on."""
        super().rests()
        self._try(self.chosen)

    def action_leave(self) -> None:
        """Put the old one back."""
        self._try(self._worn)
        super().action_leave()

    def _try(self, name: str | None) -> None:
        app: Zktop = self.app  # type: ignore[assignment]  # there is no other app
        theme = self._themes.get(name or "")
        if theme is None or app.theme == theme.name:
            return
        wrong = wear(app, theme)
        if wrong is not None:
            app.tell(wrong, is_wrong=True)


def _about(about: str) -> tuple[str, ...]:
    return (f"{about[:1].upper()}{about[1:]}.", "Set it for good with ui.theme in the config.")
