"""The ways to extend zktop in ARCHITECTURE.md: each is added to a copy of the tree and tried."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Copy:
    """A copy of the package that a test extends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("zktop", "themes"):
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )

    def add(self, path: str, text: str) -> None:
        """Write a new file, or append to one that exists."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as end:
            end.write(text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands in the file once."""
        file = self.folder / path
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))

    def run(self, *command: str, **environment: str) -> str:
        """Run Python on the copy and return its output."""
        path = {"PYTHONPATH": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        ran = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env={**os.environ, **path, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def zktop(self, *args: str) -> str:
        """Run zktop from the copy."""
        return self.run("-m", "zktop", *args)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A copy of today's package."""
    return Copy(tmp_path)


def test_a_layout_told_by_names_is_one_entry_in_its_librarys_tuple(copy: Copy) -> None:
    """It recognises names and is listed."""
    entry = 'Layout(name="acme-lock", pattern="^acme~{SEQ}$", about="Acme (COBOL)"),'
    copy.replace(
        "zktop/model/layouts/main_libraries.py",
        "RUBY: Final = (\n",
        f"RUBY: Final = (\n    {entry}\n",
    )

    assert "Acme (COBOL)" in copy.zktop("layouts")
    assert "acme-lock" in copy.zktop("layouts", "acme~0000000007")


ACME_SHAPE = """

ACME: Final = LockShape(
    layout=Layout(name="acme-chief", pattern="^chief$", kind="election", about="Acme (COBOL)"),
    fits=lambda site: "acme-config" in site.family.members,
    make=lambda context: _queue_of_node(context, "chief"),
    parts=("acme-config",),
)
"""

ASK_ACME = """
from model.make_facts import NOW, session, world
from zktop.model.examiner import Examiner
from zktop.model.facts import Children, Node, Stat
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings

def node(path, number, *names, owner=0):
    stat = Stat(number, number, 0, cversion=len(names), num_children=len(names), owner=owner)
    if names:
        return Children(path=path, names=names, stat=stat, zxid=9, at=NOW)
    return Node(path=path, stat=stat, data=b"ann", zxid=9, at=NOW)

known = world(
    node("/app", 5, "chief", "acme-config"),
    node("/app/chief", 6, owner=session("ann")),
    node("/app/acme-config", 7, "lock-0000000000"),
    node("/app/acme-config/lock-0000000000", 8, owner=session("bob")),
)
lock = lock_at("/app", known, Settings(), NOW)
print(lock.layout, lock.kind, *(member.node for member in lock.holders))
print(*Examiner().look(known, NOW).paths)
"""


def test_a_layout_told_by_its_shape_is_one_object_and_one_entry(copy: Copy) -> None:
    """It is listed, a root of it is a lock, its part is none, and the config knows its name."""
    shapes, first = "zktop/model/locks/shapes", "    hadoop_hbase_patroni.RUBY,\n"
    copy.replace(f"{shapes}/__init__.py", first, f"    hadoop_hbase_patroni.ACME,\n{first}")
    copy.add(f"{shapes}/hadoop_hbase_patroni.py", ACME_SHAPE)
    copy.add("acme.yaml", "roots:\n  - path: /app\n    layout: acme-chief\n")
    path = os.pathsep.join([str(copy.folder), str(ROOT / "tests")])

    lock, locks = copy.run("-c", ASK_ACME, PYTHONPATH=path).splitlines()

    assert lock == "acme-chief election chief"
    assert locks == "/app"
    assert "acme-chief" in copy.zktop("layouts", "--config", "acme.yaml")


def test_a_finding_is_one_function_in_its_familys_module(copy: Copy) -> None:
    """It is in the catalogue, with its letters, causes and rank."""
    copy.add(
        "zktop/model/findings/roots.py",
        '''

@Rule("R99", "too-many-locks", "info", "whole", code="LCK", after=(("lock", "R8"),))
def too_many_locks(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """More locks than anyone can look after."""
    yield RuleMatch(
        about=FindingSubject(key=("too-many",)),
        sentence="There are too many locks.",
        confidence="C4",
        evidence=(),
        advice="Delete some.",
    )
''',
    )
    asked = (
        "import json\n"
        "from zktop.model.examiner import Examiner\n"
        "from zktop.model.findings.catalogue import RULES\n"
        "from zktop.model.world.world import World\n"
        "examiner = Examiner()\n"
        "examiner.look(World(), 1_000_000)\n"
        "found = examiner.look(World(), 1_100_000).findings\n"
        "rule = {one.id: one for one in RULES}['R99']\n"
        "print(json.dumps([rule.after, rule.code, [one.sentence for one in found]]))\n"
    )
    after, letters, sentences = json.loads(copy.run("-c", asked))

    assert (after, letters) == ([["lock", "R8"]], "LCK")
    assert "There are too many locks." in sentences


def test_a_recipe_is_one_class_and_one_entry(copy: Copy) -> None:
    """It can be played by name."""
    recipes = "zktop/demo/recipes/__init__.py"
    copy.replace(
        recipes, "from zktop.demo.recipes import ", "from zktop.demo.recipes import acme, "
    )
    copy.replace(
        recipes,
        "    single_node.SingleNode,\n",
        "    single_node.SingleNode,\n    acme.AcmeLock,\n",
    )
    copy.add(
        "zktop/demo/recipes/acme.py",
        '''"""The lock of Acme."""

from zktop.demo.recipes.single_node import SingleNode


class AcmeLock(SingleNode):
    """One node, as Acme writes it."""

    name = "acme"
    brief = "Acme's own lock"
''',
    )

    assert "acme" in copy.zktop("contend", "--help")


def test_a_scene_is_one_value_and_one_entry(copy: Copy) -> None:
    """It is listed with its title."""
    scenes = "zktop/demo/scenes/__init__.py"
    copy.replace(scenes, "    queues.QUEUE,\n", "    queues.ACME,\n    queues.QUEUE,\n")
    copy.add(
        "zktop/demo/scenes/queues.py",
        """

ACME = Scene(
    "acme",
    "Acme at work",
    "One contender holds its lock.",
    (first(contends("ann", "predecessor", "Acme")),),
    "ann holds.",
)
""",
    )

    assert "Acme at work" in copy.zktop("scene", "--list")


def test_a_theme_is_one_file(copy: Copy) -> None:
    """It can be chosen by name."""
    plain = (ROOT / "themes/zktop-plain.yaml").read_text()
    copy.add("themes/acme.yaml", plain.replace("name: zktop-plain", "name: acme"))
    asked = (
        "import os\n"
        "from zktop.config.theme_files import all_themes\n"
        "from zktop.ui.inks import INKS\n"
        "print(*(one.name for one in all_themes(os.environ, (*INKS, 'cursor')).usable))\n"
    )

    assert "acme" in copy.run("-c", asked).split()


def test_a_command_is_one_module_and_one_entry(copy: Copy) -> None:
    """It is in the help, and runs."""
    copy.replace(
        "zktop/cli/main.py", '    "layouts": "', '    "acme": "Greets Acme.",\n    "layouts": "'
    )
    copy.add(
        "zktop/cli/acme.py",
        '''"""`zktop acme`: greet Acme."""

import click


@click.command("acme")
def command() -> None:
    """Greet Acme."""
    click.echo("hello, Acme")
''',
    )

    assert "Greets Acme." in copy.zktop("--help")
    assert copy.zktop("acme") == "hello, Acme\n"


ACME_SCREEN = '''"""Screen 7: Acme."""

from typing import ClassVar

from textual.app import ComposeResult

from zktop.ui.screens.page import Page
from zktop.ui.view_state import ViewState
from zktop.ui.styled_text import line
from zktop.ui.widgets.text_view import TextView


class AcmeScreen(Page):
    """A text and a key of its own."""

    HELP: ClassVar[str | None] = "What Acme does."

    def compose(self) -> ComposeResult:
        yield TextView()

    def draw(self, state: ViewState) -> None:
        locks = len(state.frame.report.paths) if state.frame else 0
        self.query_one(TextView).show([line((f"{locks} locks of Acme.", "plain"))])

    def action_greet(self) -> None:
        self.query_one(TextView).show([line(("Hello again.", "good"))])
'''

PRESS = """
import asyncio
from ui.fake_feed import app_of, frames, pressed, settled

async def main():
    app = app_of(*frames((1_000_000, [])))
    async with app.run_test(size=(100, 120)) as pilot:
        for key in ({keys}):
            await pressed(pilot, key)
        print("\\n".join(await settled(pilot)))

asyncio.run(main())
"""


@pytest.fixture
def with_screen(copy: Copy) -> Copy:
    """A copy with one more screen, and a key on it."""
    acme = '    PageEntry("acme", "Acme", "AcmeScreen", "7", "what Acme does"),'
    copy.replace("zktop/ui/screens/__init__.py", "\n)\n", f"\n{acme}\n)\n")
    copy.add("zktop/ui/screens/acme/screen.py", ACME_SCREEN)
    copy.replace(
        "zktop/ui/keys.py",
        "KEYS: Final = (\n",
        'KEYS: Final = (\n    Action("greet", "f12", "greet Acme", "look", pages=("acme",)),\n',
    )
    return copy


def screen_after(copy: Copy, *keys: str) -> str:
    """What the UI of the copy shows after these keys."""
    path = os.pathsep.join([str(copy.folder), str(ROOT / "tests")])
    script = PRESS.format(keys="".join(f"{key!r}, " for key in keys))
    return copy.run("-c", script, PYTHONPATH=path)


def test_a_screen_is_one_folder_and_one_entry(with_screen: Copy) -> None:
    """Its key opens it, and its title is in the header."""
    shown = screen_after(with_screen, "7")

    assert "0 locks of Acme." in shown
    assert "7 Acme" in shown


def test_a_key_is_one_entry_and_one_method(with_screen: Copy) -> None:
    """It runs the method, and the help lists it."""
    assert "Hello again." in screen_after(with_screen, "7", "f12")
    assert "greet Acme" in screen_after(with_screen, "7", "question_mark")
