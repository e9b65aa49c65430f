"""Collaborations on disk of which a plan can be made: everything is declared."""

from tests.support.exchange import KEYS, NAMES

MADE = "2020-01-01T00:00:00Z"

COLUMNS = """\
[columns.y]
range = [0, 300]
[columns.weight]
range = [0, 120]
unit = "kg"
[columns.sex]
levels = ["f", "m"]
[columns.seen]
kind = "date"
range = [2015-01-01, 2024-12-31]
missing = "drop"
"""

SPREAD = 'kind = "sparse_gp"\ninducing = "spread"\ninducing_points = 8\n'


def planned_project(
    folder,
    *,
    name="Trial",
    columns=COLUMNS,
    model=SPREAD,
    target='"y"',
    features='["weight", "sex", "seen"]',
    more="",
    rewards="",
    parties=NAMES,
    data="{party}.csv",
):
    """A folder with a configuration, and no data; every party has a key."""
    folder.mkdir(parents=True, exist_ok=True)
    sections = ""
    for party in parties:
        key = KEYS[party].public if party in KEYS else None
        sections += f'[[parties]]\nname = "{party}"\ndata = "{data.format(party=party)}"\n'
        if key is not None:
            sections += f'key = "{key}"\n'
    named = f'name = "{name}"\n' if name else ""
    listed = f"features = {features}\n" if features else ""
    (folder / "collaboration.toml").write_text(
        f"{named}target = {target}\n{listed}{columns}[model]\n{model}"
        f"[rewards]\n{rewards}\n{more}\n{sections}"
    )
    return folder


def edit(folder, old, new):
    """Change the configuration."""
    file = folder / "collaboration.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
