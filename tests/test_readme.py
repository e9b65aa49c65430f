"""The README's code runs as it stands."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_code_in_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "north receives the best model" in printed
    assert names["verdicts"]["R6"].holds
    assert len(names["models"]) == 3
