"""The pages of docs/ and the README as somebody follows them: what to run, and what to write.

The first word behind a fence is the language, and others say where a block belongs:

- `sh MACHINE`: every line is a command, run in that machine's folder; without a machine, "here".
  `sh each clinic` runs on all machines of a group that the page's walk knows.
- `python MACHINE`: run there; all blocks of a page share their names.
- `toml MACHINE PATH`: written there. `toml part`: a piece of a collaboration.toml, like those
  before it on the page.
- `text`: nothing to run, such as a formula. `text printed`: lines that the block before printed,
  but for blanks, and for the last digits of numbers, which depend on the machine.
- `sh not-run` and `python not-run`: tests/test_pages.py lists every one with the reason.
"""

import io
import math
import os
import re
import shlex
import tomllib
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from fairpool.consortium.configuration_file import load_configuration
from tests.support.in_process import run_in_process

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.S | re.M)
HERE = "here"


@dataclass(frozen=True)
class Block:
    """A fenced block, and what the page says of it."""

    language: str
    where: str
    text: str
    heading: str = ""

    @property
    def is_run(self):
        return self.language in ("sh", "python", "toml") and self.where != "not-run"

    @property
    def is_printed(self):
        return self.language == "text" and self.where == "printed"


def page_names():
    """Every page, the README among them."""
    return ["README", *sorted(path.stem for path in DOCS.glob("*.md"))]


def page_path(name):
    return ROOT / "README.md" if name == "README" else DOCS / f"{name}.md"


def page_text(name):
    return page_path(name).read_text(encoding="utf-8")


def blocks(text):
    """All fenced blocks of a text, each with the heading that it stands under."""
    found = []
    for match in FENCE.finditer(text):
        language, _, where = match[1].partition(" ")
        headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text[: match.start()]), re.M)
        found.append(Block(language, where, match[2], headings[-1] if headings else ""))
    return found


def indented_blocks(text):
    """What Markdown shows as code for its four blanks alone."""
    return re.findall(r"(?:\A|\n)\n((?:    [^\n]*\n)+)", FENCE.sub("", text))


def says_the_same(line, other):
    """Whether two lines have the same words, and numbers that agree to one in fifty."""
    words, others = line.split(), other.split()
    return len(words) == len(others) and all(map(_is_same_word, words, others))


def _is_same_word(word, other):
    numbers = [one.rstrip("%") for one in (word, other)]
    if all(re.fullmatch(r"\d+\.?\d*", one) for one in numbers):
        return math.isclose(float(numbers[0]), float(numbers[1]), rel_tol=0.02)
    return word == other


@dataclass
class Walk:
    """What the machines of one page have so far.

    Attributes:
        folder: It has a folder for each machine, and nothing else.
        groups: Machines that do the same, by what a page calls them.
        stage: What a reader is taken to have before a section, by its heading; "" is before all.
        variables: What a reader was told and puts into a command, such as $FINGERPRINT.
        said: What each machine's last command printed, and each machine's last one of a name.
        names: What Python blocks have defined.
        parts: Pieces of a configuration.
        printed: By the last command or Python block, errors too.
    """

    folder: Path
    groups: dict = field(default_factory=dict)
    stage: dict = field(default_factory=dict)
    variables: dict = field(default_factory=dict)
    said: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)
    parts: list = field(default_factory=list)
    printed: str = ""

    def machine(self, name=HERE):
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def follow(self, text):
        """Everything on a page, from its top to its end."""
        for block in blocks(text):
            if block.is_run:
                self.take(block)
            elif block.is_printed:
                self.compare(block)
        return self

    def take(self, block):
        self.enter(block.heading)
        if block.language == "sh":
            for machine in self.groups.get(block.where, [block.where or HERE]):
                for line in block.text.splitlines():
                    self.run(machine, line)
        elif block.language == "python":
            self.execute(block)
        elif block.where == "part":
            self.check_part(block.text)
        else:
            machine, path = block.where.split()
            (self.machine(machine) / path).write_text(block.text, encoding="utf-8")

    def enter(self, heading):
        """Set the stage of a section, once."""
        for place in ("", heading):
            if place in self.stage:
                self.stage.pop(place)(self)

    def run(self, machine, line):
        """One command, in this process; it must end well."""
        program, *arguments = shlex.split(line, comments=True)
        assert program == "fairpool", line
        place = self.machine(machine)
        for name, value in self.variables.items():
            arguments = [one.replace(f"${name}", value) for one in arguments]
        before = os.environ.get("FAIRPOOL_HOME")
        os.environ["FAIRPOOL_HOME"] = str(place / "home")
        try:
            done = run_in_process(arguments, place)
        finally:
            os.environ.pop("FAIRPOOL_HOME")
            if before is not None:
                os.environ["FAIRPOOL_HOME"] = before
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        self.said[machine] = self.said[machine, arguments[0]] = done.stdout
        self.printed = done.stdout + done.stderr
        self.remember(arguments, done.stdout)

    def remember(self, arguments, printed):
        """The fingerprint that a person would note down."""
        if arguments[0] == "plan":
            self.variables["FINGERPRINT"] = printed.rstrip().splitlines()[-1].strip()

    def execute(self, block):
        machine = block.where or HERE
        with chdir(self.machine(machine)), redirect_stdout(io.StringIO()) as printed:
            exec(compile(block.text, f"a page, {block.heading}", "exec"), self.names)
        self.said[machine] = self.printed = printed.getvalue()

    def compare(self, block):
        """Whether what the page shows was printed."""
        printed = self.printed.splitlines()
        for line in block.text.splitlines():
            assert any(says_the_same(line, other) for other in printed), (line, self.printed)

    def check_part(self, text):
        """Whether a piece of a configuration, with those before it, fits into one."""
        self.parts.append(text)
        text = "\n".join(self.parts)
        missing = "" if "target" in tomllib.loads(text) else 'target = "y"\n'
        others = "".join(f'[[parties]]\nname = "{n}"\ndata = "{n}.csv"\n' for n in "PQR")
        path = self.machine("parts") / "collaboration.toml"
        path.write_text(f"{missing}{text}\n{others}", encoding="utf-8")
        load_configuration(path)
