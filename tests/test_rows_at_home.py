"""The tutorial of rows that stay at home: every command, on four machines' worth of folders.

Nothing goes from one folder to another but the files that the page says are sent.
"""

import re
import shutil

import pytest

from tests.support.pages import FENCE, Block, Walk, page_text

CLINICS = ("north", "south", "west")
EACH = "each clinic"

STEP = re.compile(
    rf"(?P<fence>{FENCE.pattern})"
    r"|^- Sent: `(?P<sent>[^`]+)` from (?P<route>[^\n]+)$"
    r"|`(?P<data>data = [^`]+)`"
    r"|`(?P<rho>rho = [\d.]+)` in the place of",
    FENCE.flags,
)
"""What is done on the page, in order: blocks to run or to write, files sent, lines to change."""


class Clinics(Walk):
    """Four machines, between which nothing goes but what the page says is sent."""

    def follow(self, text):
        for step in STEP.finditer(text):
            if step["fence"]:
                words, content = FENCE.fullmatch(step["fence"]).groups()
                language, _, where = words.partition(" ")
                self.take(Block(language, where or ".", self.with_keys(content)))
            elif step["sent"]:
                for clinic in CLINICS:
                    self.send(step["sent"], step["route"], clinic)
            elif step["rho"]:
                self.change(r"^rho = .*$", step["rho"])
            else:
                self.name_data(step["data"])
        return self

    def with_keys(self, text):
        """The configuration with the line that each clinic was shown."""
        for clinic in CLINICS:
            if clinic in self.said:
                line = re.search(r'key = "ed25519:\w+"', self.said[clinic])
                theirs = rf"key = .*the line that {clinic.title()} sent"
                text = re.sub(theirs, str(line and line[0]), text)
        return text

    def send(self, path, route, clinic):
        at_clinic, operator = self.folder / clinic, self.folder / "operator"
        if route.startswith(EACH):
            shutil.copy(at_clinic / path, operator / "diabetes" / f"{clinic}-{path}")
        elif route.endswith("its own receipt."):
            for receipt in (operator / path).glob(f"{clinic.title()}-*"):
                shutil.copy(receipt, at_clinic)
        elif route.endswith("its own folder."):
            shutil.copytree(operator / path / clinic.title(), at_clinic, dirs_exist_ok=True)
        else:
            assert route == f"the operator to {EACH}."
            shutil.copy(operator / path, at_clinic)

    def change(self, pattern, line):
        path = self.folder / "operator" / "diabetes" / "collaboration.toml"
        text, changed = re.subn(pattern, line, path.read_text(), flags=re.M)
        assert changed == 1
        path.write_text(text)

    def name_data(self, line):
        for clinic in CLINICS:
            name = f'name = "{clinic.title()}"'
            own = line.replace("north", clinic)
            self.change(rf"^{name}\n(?:data = .*\n)?", f"{name}\n{own}\n")


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    walk = Clinics(tmp_path_factory.mktemp("machines"), groups={EACH: CLINICS})
    return walk.follow(page_text("rows-at-home"))


def test_every_command_of_the_page_does_what_it_says(walked):
    operator = walked.folder / "operator" / "diabetes"
    assert (operator / "rounds" / "0003" / "operator" / "report.html").is_file()
    assert "3 parties" in walked.said["operator", "run"]
    for clinic in CLINICS:
        assert len(list((walked.folder / clinic).glob("*.receipt"))) == 1
        predictions = (walked.folder / clinic / "predictions.csv").read_text().splitlines()
        assert len(predictions) > 140
        assert predictions[0].startswith("progression,")


def test_no_row_of_a_clinic_is_on_another_machine(walked):
    """No line of a table; tests/consortium/rounds/test_sums.py looks for single numbers."""
    for clinic in CLINICS:
        lines = (walked.folder / clinic / "patients.csv").read_bytes().splitlines()[1:]
        others = [path for path in walked.folder.rglob("*") if path.is_file()]
        others = [path for path in others if clinic not in path.relative_to(walked.folder).parts]
        assert len(others) > 30
        for path in others:
            content = path.read_bytes()
            assert not any(line in content for line in lines), path


def test_nothing_is_at_a_clinic_that_was_not_sent_or_made_there(walked):
    for clinic in CLINICS:
        here = {path.name for path in (walked.folder / clinic).iterdir() if path.is_file()}
        (receipt,) = (name for name in here if name.endswith(".receipt"))
        assert here == {
            "before.csv",
            "april.csv",
            "patients.csv",
            "plan.json",
            "first.contribution",
            "second.contribution",
            "third.contribution",
            "letter.html",
            "model-card.md",
            "reward.safetensors",
            "predictions.csv",
            receipt,
        }
