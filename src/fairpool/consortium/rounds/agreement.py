"""What all rounds share: scaling, features and hyperparameters, fixed in the first one.

They are outside of what keyed noise promises, and so stay as they are until the operator asks to
learn them anew.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpool.columns.encoded import EncodedColumn
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.model_building import BuiltModel
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError, PlanError
from fairpool.exchange.plan import SignedPlan
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.noise_variance import NoiseLevel
from fairpool.realisation.reward_file import decode_reward, reward_bytes

NOBODY = "all parties"
SECTIONS = {"target", "features", "categorical", "missing", "columns", "model", "public"}
"""Of the configuration: what scaling, features and hyperparameters depend on."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """How tables become numbers, and the model before it has seen any.

    Attributes:
        encoding: How tables become numbers.
        built: The model, and where it comes from.
        sections: Of each section of the configuration that it depends on, the hash.
        features_digest: Of the plan's features (`fairpool.exchange.plan`), which contributions
            name; empty: there was no plan.
        is_draft: Whether it is a plan's, and not yet kept: scales may still be learned.
    """

    encoding: TableEncoding
    built: BuiltModel
    sections: dict[str, str]
    features_digest: str = ""
    is_draft: bool = False

    @classmethod
    def of_plan(cls, plan: SignedPlan) -> "Agreement":
        """What a plan has all parties agree to."""
        said = plan.plan
        built = BuiltModel(
            model=said.model, origin=said.origin, learned=False, rows=said.origin, settings={}
        )
        return cls(
            encoding=said.encoding,
            built=built,
            sections=dict(said.sections),
            features_digest=said.features_digest,
            is_draft=True,
        )

    def to_bytes(self) -> tuple[bytes, bytes]:
        """The model before it has seen any data, as a reward file has it; and the words about it.

        Such a file is read without trusting it.
        """
        p = len(self.encoding.features)
        model = self.built.model
        prior = model.posterior(np.zeros((0, p)), np.zeros(0))
        nothing = ModelReward(
            party=NOBODY,
            target=0.0,
            level=NoiseLevel(tau=0.0, value=0.0, eta=np.inf),
            mechanism=LabelNoise(),
            posterior=prior,
            encoding=self.encoding,
        )
        words = {
            "sections": self.sections,
            "origin": self.built.origin,
            "learned": self.built.learned,
            "rows": self.built.rows,
            "settings": self.built.settings,
            "features": self.features_digest,
        }
        text = json.dumps(words, indent=1, sort_keys=True, ensure_ascii=False)
        return reward_bytes(nothing, share_inputs=True), (text + "\n").encode()

    @classmethod
    def of_bytes(cls, content: bytes, words: bytes, name: str) -> "Agreement":
        """What `to_bytes` gave.

        Args:
            content: The model.
            words: What is said about it.
            name: Where they are, for errors.
        """
        prior = decode_reward(content, name)
        assert prior.encoding is not None  # it was written with one
        said = json.loads(words)
        built = BuiltModel(
            model=prior.posterior.model,
            origin=said["origin"],
            learned=said["learned"],
            rows=said["rows"],
            settings=said["settings"],
        )
        return cls(
            encoding=prior.encoding,
            built=built,
            sections=said["sections"],
            features_digest=said.get("features", ""),  # earlier versions had no plans
        )

    @property
    def features(self) -> tuple[str, ...]:
        """The input columns."""
        return tuple(column.name for column in self.encoding.columns)

    def encoding_like(self, fresh: TableEncoding) -> TableEncoding:
        """The encoding, with encoders of texts and images opened as they are in a fresh one."""
        opened = {}
        for column in fresh.columns:
            if isinstance(column, EncodedColumn):
                opened[column.name] = column
        columns = [opened.get(column.name, column) for column in self.encoding.columns]
        return replace(self.encoding, columns=tuple(columns), ids=fresh.ids)

    def changed_by(self, configuration: Configuration) -> list[str]:
        """Of which sections a configuration says something else."""
        now = sections_of(configuration)
        return [name for name in sorted(SECTIONS) if now[name] != self.sections.get(name)]

    def refuse_other(self, configuration: Configuration) -> None:
        """Refuse a configuration that asks for other inputs, scaling or another model."""
        changed = self.changed_by(configuration)
        if not changed:
            return
        said = f"what the configuration says of {', '.join(changed)} is not what it said when"
        if self.is_draft:
            raise ConfigurationError(
                f"{said} plan.json was written, by which all parties sum up their rows; put it"
                " back, or write a new plan, under which every party contributes again:"
                " fairpool plan"
            )
        raise ConfigurationError(
            f"{said} the model was learned, and reward files of different models tell more about"
            " everybody's data; put it back, or, if all parties agreed to that, learn the model"
            " anew: fairpool run --learn-anew"
        )

    def refuse_other_plan(self, plan: SignedPlan) -> None:
        """Refuse sums by other features than those of the models that were released."""
        if self.features_digest != plan.plan.features_digest:
            raise PlanError(
                "plan.json has other columns, scaling or features than the models of earlier"
                " rounds, so that sums made by it tell nothing about these; restore the plan of"
                " those rounds, or, if all parties agreed to that, learn the model anew: fairpool"
                " run --learn-anew"
            )


def sections_of(configuration: Configuration) -> dict[str, str]:
    """The hash of each section that an agreement depends on.

    What is as by default does not count: a later version may have more settings.
    """
    said: dict[str, Any] = configuration.model_dump(
        mode="json", include=SECTIONS, exclude_defaults=True
    )
    hashes = {}
    for name in SECTIONS:
        text = json.dumps(said.get(name), sort_keys=True, ensure_ascii=True)
        hashes[name] = hashlib.sha256(text.encode()).hexdigest()
    return hashes
