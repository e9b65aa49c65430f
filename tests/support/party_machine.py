"""The machine of a party that keeps its rows, and everything that it does there."""

from tests.support.pages import Walk
from tests.support.stages import elsewhere_a_round

COMMANDS = [
    ["keys", "new", "--out", "another.key"],
    ["inspect", "plan.json"],
    ["contribute", "plan.json", "--data", "mine.csv", "--out", "north.contribution", "--yes"],
    ["inspect", "north.contribution"],
    ["inspect", "reward.safetensors"],
    ["verify", "reward.safetensors", "--letter", "letter.html", "--data", "mine.csv"],
    ["predict", "reward.safetensors", "--data", "mine.csv", "--out", "predictions.csv"],
]

ROWS = 150
"""In its table."""


def party_machine(folder):
    """North's folder: a key, a plan, a table, a reward and its letter.

    It has contributed once, so that it knows the operator: x.contribution, which is what the same
    table gives whenever it is contributed. Its home is in the folder `home`.
    """
    walk = Walk(folder)
    elsewhere_a_round(walk)
    first = "fairpool contribute plan.json --data mine.csv --out x.contribution"
    walk.run("north", f'{first} --trust "$FINGERPRINT" --yes')
    return walk.machine("north")
