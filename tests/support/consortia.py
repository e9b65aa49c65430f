"""Collaborations on disk whose files change from round to round."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from fairpool.compute.files import make_private_folder
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import LEDGER_FILE, MAC, SECRET_FILE, STATE_FOLDER
from fairpool.consortium.rounds.releasing import one_at_a_time, refuse_place, release, settle
from fairpool.consortium.run import run
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger import Ledger, verify
from tests.support.projects import write

KINDS = {
    "blr": 'kind = "blr"',
    "sparse_gp": 'kind = "sparse_gp"\ninducing_points = 6',
    "network": 'kind = "network"\nhidden_layers = [4, 3]',
    "gp": 'kind = "gp"\nkernel = "rbf"',
}
AGREED = {"network": "share_labels = true", "gp": "share_inputs = true"}
"""What all parties have to agree to, by the kind of model."""

CLASSES = ("no", "yes")


def numbers(count, seed, shift=0.0):
    """Rows whose label is a number."""
    rng = np.random.default_rng(seed)
    x = rng.normal(shift, 1, count)
    z = rng.uniform(0, 5, count)
    y = 20 + 4 * np.sin(x) + 2 * z + rng.normal(0, 1, count)
    return pa.table({"x": x, "z": z, "y": y})


def classes(count, seed, shift=0.0):
    """Rows whose label is a class, of both about as many."""
    rng = np.random.default_rng(seed)
    is_yes = np.arange(count) % 2 == 0
    x = rng.normal(shift + 1.5 * is_yes, 1, count)
    z = rng.uniform(0, 5, count)
    return pa.table({"x": x, "z": z, "y": np.where(is_yes, *CLASSES[::-1])})


@dataclass(kw_only=True)
class Consortium:
    """A folder, and what its next round will find in it.

    Attributes:
        folder: Where.
        tables: Every party's rows, by its name.
        kind: Of the model.
        rho: Of the configuration.
        rewards: More lines of [rewards].
        extra: Lines before all sections.
        terms: More lines of a party's section, by its name.
        suffix: Of the parties' files.
        seed: Of the secret, so that a test's batches and noise are always the same.
    """

    folder: Path
    tables: dict
    kind: str = "blr"
    rho: float | str = 0.6
    rewards: str = ""
    extra: str = 'target = "y"'
    model: str = ""
    terms: dict = field(default_factory=dict)
    suffix: str = ".csv"
    seed: int = 0

    def __post_init__(self):
        state = self.folder / STATE_FOLDER
        make_private_folder(state)
        if not (state / SECRET_FILE).exists():
            material = np.random.default_rng([15, self.seed]).bytes(32)
            Secret(material).write(state / SECRET_FILE)

    def write(self):
        """Put everything into the folder."""
        sections = []
        for number, (name, table) in enumerate(self.tables.items()):
            file = self.folder / f"{number}{self.suffix}"
            write(file, table)
            terms = self.terms.get(name, "")
            sections.append(f'[[parties]]\nname = "{name}"\ndata = "{file.name}"\n{terms}\n')
        rho = self.rho if isinstance(self.rho, float) else f'"{self.rho}"'
        (self.folder / "collaboration.toml").write_text(
            f'name = "Test"\n{self.extra}\n[model]\n{KINDS[self.kind]}\n{self.model}\n[rewards]\n'
            f"rho = {rho}\n{AGREED.get(self.kind, '')}\n{self.rewards}\n{''.join(sections)}"
        )

    def next_round(self, *, rho=None, learn_anew=False):
        """Run and release, as the command does."""
        self.write()
        request = RunRequest(configuration=self.folder, rho=rho, learn_anew=learn_anew)
        with one_at_a_time(self.folder):
            settle(self.folder)
            refuse_place(self.folder)
            done = run(request)
            release(done)
        return done

    @property
    def secret(self):
        return Secret.read(self.folder / STATE_FOLDER / SECRET_FILE)

    @property
    def ledger(self):
        return Ledger.open(self.folder / LEDGER_FILE, self.secret.subkey(MAC))

    def check_ledger(self):
        """Verified with the key and without."""
        for key in (self.secret.subkey(MAC), None):
            assert verify(self.folder / LEDGER_FILE, key).ok

    def releases(self):
        """The bodies of all releases, in order."""
        return [record.body for record in self.ledger.records if record.kind == "release"]
