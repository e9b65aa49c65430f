"""The same consortium twice on disk: parties who send rows, and parties who send sums over them."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from fairpool.compute.files import make_private_folder, write_atomically
from fairpool.consortium.agreed_terms import parties_of, terms_of
from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.learning import learn
from fairpool.consortium.planning.bounds import feature_bound, label_bound
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.agreement import sections_of
from fairpool.consortium.rounds.context import (
    LEDGER_FILE,
    MAC,
    OPERATOR_KEY,
    PLAN_FILE,
    SECRET_FILE,
    STATE_FOLDER,
)
from fairpool.consortium.rounds.releasing import one_at_a_time, refuse_place, release, settle
from fairpool.consortium.run import run
from fairpool.exchange.contribution_file import ContributionFile, Manifest, class_counts
from fairpool.exchange.plan import Plan, PlannedParty, SignedPlan, Terms
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger import Ledger
from tests.support.exchange import KEYS, OPERATOR
from tests.support.projects import write

NAMES = tuple(KEYS)
CLASSES = ("green", "red")

MODELS = {
    "blr": 'kind = "blr"\nprior_variance = 0.7',
    "sparse_gp": 'kind = "sparse_gp"\nkernel = "rbf(1.5)"\ninducing = "spread"\n'
    "inducing_points = 5",
    "fourier": 'kind = "fourier"\nkernel = "rbf(1.5)"\nfeatures = 4',
    "network": 'kind = "network"\nhidden_layers = [16, 6]',
}

COLUMNS = (
    "[columns.x]\nrange = [-6, 6]\n"
    "[columns.z]\nrange = [0, 5]\n"
    '[columns.kind]\nlevels = ["green", "red"]\n'
)


def numbers(rows, seed, shift=0.0):
    """A table whose labels are numbers."""
    rng = np.random.default_rng([16, seed])
    x = np.clip(rng.normal(shift, 1, rows), -6, 6)
    z = rng.uniform(0, 5, rows)
    kind = rng.choice(["green", "red"], rows)
    y = 50 + 10 * np.sin(x) + 3 * z + 4 * (kind == "red") + rng.normal(0, 2, rows)
    return pa.table({"x": x, "z": z, "kind": kind, "y": np.clip(y, 0, 100)})


def classes(rows, seed, shift=0.0):
    """A table whose labels are classes, of both about as many."""
    table = numbers(rows, seed, shift)
    y = table["y"].to_numpy()
    rng = np.random.default_rng([17, seed])
    is_high = y + rng.normal(0, 8, rows) > np.median(y)
    return table.set_column(3, "y", pa.array(np.where(is_high, *CLASSES)))


@dataclass(kw_only=True)
class Case:
    """A collaboration of three parties in a folder, some of whom send sums.

    Attributes:
        folder: Where.
        tables: Every party's rows, by its name.
        kind: Of the model.
        classes: Whether labels are classes.
        by_sums: Who sends sums.
        rho: Of the configuration.
        learned_from_sums: Whether scales are.
        rewards: More lines of [rewards].
        terms: More lines of a party's section, by its name.
        sent: The contributions that each party has sent so far, as files by name.
    """

    folder: Path
    tables: dict
    kind: str = "blr"
    classes: bool = False
    by_sums: tuple = NAMES
    rho: float | str = 0.6
    learned_from_sums: bool = False
    rewards: str = ""
    terms: dict = field(default_factory=dict)
    sent: dict = field(default_factory=dict)

    def __post_init__(self):
        state = self.folder / STATE_FOLDER
        make_private_folder(state)
        if not (state / SECRET_FILE).exists():
            Secret(np.random.default_rng(16).bytes(32)).write(state / SECRET_FILE)
            OPERATOR.write(state / OPERATOR_KEY)

    def configure(self, sends_sums):
        """Write the configuration, and the tables that it names."""
        sections = []
        for name, table in self.tables.items():
            line = f'name = "{name}"\n{self.terms.get(name, "")}'
            if name in self.by_sums:
                line += f'\nkey = "{KEYS[name].public}"'
            if name in sends_sums:
                places = ", ".join(f'"{file}"' for file in self.sent[name])
            else:
                write(self.folder / f"{name}.csv", table)
                places = f'"{name}.csv"'
            sections.append(f"[[parties]]\n{line}\ndata = [{places}]\n")
        target = 'column = "y"\n'
        ranges = COLUMNS
        if self.classes:
            target += f'kind = "classes"\nlevels = ["{CLASSES[0]}", "{CLASSES[1]}"]\n'
        else:
            ranges += "[columns.y]\nrange = [0, 100]\n"
        noise = "" if self.classes else "noise_variance = 0.2\n"
        public = ""
        if self.kind == "network":
            write(self.folder / "public.csv", self._table(300, 99))
            public = '[public]\ndata = "public.csv"\n'
        write(self.folder / "test.csv", self._table(60, 98))
        rho = self.rho if isinstance(self.rho, float) else f'"{self.rho}"'
        (self.folder / "collaboration.toml").write_text(
            f'name = "Sums"\n[target]\n{target}[model]\n{MODELS[self.kind]}\nlearn = false\n{noise}'
            f'{ranges}{public}[test]\ndata = "test.csv"\n[rewards]\nrho = {rho}\n{self.rewards}\n'
            f"{''.join(sections)}"
        )

    def _table(self, rows, seed):
        make = classes if self.classes else numbers
        return make(rows, seed)

    def planned(self) -> SignedPlan:
        """A plan of the way in which rows become sums, of which no row tells anything.

        It is the model of a run of rows: nothing of it depends on them.
        """
        self.configure(())
        preparation = prepare(RunRequest(configuration=self.folder))
        learning = learn(preparation)
        configuration = preparation.configuration
        plan = Plan(
            name="Sums",
            made="2020-01-01T00:00:00Z",
            parties=tuple(PlannedParty(id=n, name=n, key=self.key_of(n)) for n in self.tables),
            encoding=preparation.encoding,
            model=learning.built.model,
            origin="declared ranges and levels",
            learned_from_sums=self.learned_from_sums,
            label_bound=label_bound(learning.built.model, preparation.encoding),
            feature_bound=feature_bound(learning.built.model, preparation.encoding),
            terms=Terms(
                rho=configuration.rewards.rho,
                contributions="shapley",
                mechanism="label_noise",
                covariance=configuration.rewards.covariance,
                colluding=None,
                share_inputs=False,
                share_labels=False,
            ),
            sections=sections_of(configuration),
            discloses=("The operator sees sums over your rows.",),
        )
        signed = plan.signed(OPERATOR)
        write_atomically(self.folder / PLAN_FILE, signed.content)
        return SignedPlan.of_content(signed.content, "plan.json")

    def key_of(self, name):
        """Whose signature a party's contributions need; None: it sends rows."""
        return KEYS[name].public if name in self.by_sums else None

    def contribute(self, name, table, plan=None, **said):
        """Have a party send sums over a table, and list them after those that it has sent."""
        plan = plan or self.planned()
        file = contribution_of(table, plan, name, **said)
        path = f"{name}-{len(self.sent.get(name, {}))}.contribution"
        write_atomically(self.folder / path, file.to_bytes())
        self.sent.setdefault(name, {})[path] = file
        return file

    def next_round(self, **changes):
        """Run and release, as the command does; what was sent as sums is taken so."""
        for name in self.by_sums:
            if name not in self.sent:
                self.contribute(name, self.tables[name])
        self.configure(self.by_sums)
        self._agree_to_terms()
        for name in self.by_sums:
            (self.folder / f"{name}.csv").unlink(missing_ok=True)
        request = RunRequest(configuration=self.folder, **changes)
        with one_at_a_time(self.folder):
            settle(self.folder)
            refuse_place(self.folder)
            done = run(request)
            release(done)
        return done

    def _agree_to_terms(self):
        """Write the plan again where terms are others by now; features stay as they are."""
        path = self.folder / PLAN_FILE
        if path.exists():
            plan = SignedPlan.of_content(path.read_bytes(), "plan.json").plan
            configuration = load_configuration(self.folder)
            now = replace(plan, terms=terms_of(configuration), parties=parties_of(configuration))
            if (now.terms, now.parties) != (plan.terms, plan.parties):
                write_atomically(path, now.signed(OPERATOR).content)

    def releases(self):
        """The bodies of all releases, in order."""
        secret = Secret.read(self.folder / STATE_FOLDER / SECRET_FILE)
        ledger = Ledger.open(self.folder / LEDGER_FILE, secret.subkey(MAC))
        return [record.body for record in ledger.records if record.kind == "release"]


def contribution_of(table, plan: SignedPlan, name, **said) -> ContributionFile:
    """Sums over a table under a plan."""
    X, y = plan.plan.encoding.encode(table), plan.plan.encoding.encode_target(table)
    sums = plan.plan.model.moments(np.asarray(X), y)._asdict()
    arrays = {entry: np.asarray(array, float) for entry, array in sums.items()}
    manifest = Manifest(
        operator=plan.operator,
        plan=plan.digest,
        features=plan.plan.features_digest,
        party=name,
        made="2020-01-02T00:00:00Z",
        nonce=_nonce(name, table),
        rows=table.num_rows,
        left_out=0,
        counts=class_counts(plan.plan, arrays),
    )
    return ContributionFile.made(KEYS[name], replace(manifest, **said), arrays)


def _nonce(name, table):
    """What would be random: tests are to give the same every time."""
    content = f"{name} {table.to_pydict()}".encode()
    return hashlib.sha256(content).hexdigest()[:32]
