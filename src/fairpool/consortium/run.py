"""The whole run: tables in; values, contributions, rewards, models and scores out."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpool.audit import duplicates_of_keys, held_out_residuals
from fairpool.collaboration import Collaboration, collaboration_of
from fairpool.compute.workers import Progress, Workers
from fairpool.consortium.intake import Survey
from fairpool.consortium.model_building import BuiltModel, Origin, build_model
from fairpool.consortium.preparation import Preparation, refuse_changed_files
from fairpool.consortium.scrutiny import (
    Sample,
    few_rows_notes,
    outlier_notes,
    overlap_notes,
    residual_notes,
)
from fairpool.consortium.statistics import encoded_batches, row_keys, summarise_files
from fairpool.model_kinds import KINDS
from fairpool.models import WeightModel
from fairpool.notes import Note, texts_of
from fairpool.parties import Party, PartyData
from fairpool.report.scores import Scores, score_models
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import TableEncoding

SAMPLE_ROWS = 5000
"""Of each party, how many rows are kept to learn hyperparameters from and to look at residuals."""

FEWEST_KEPT = 9
"""From this many parties on, values are kept on disk until the run is done; fewer take no time."""

MOST_KEYS = 20_000_000
"""How many rows are compared to find copies; of more, a fair share stands for all."""


@dataclass(frozen=True)
class Run:
    """All that a run found.

    Attributes:
        preparation: What it was given.
        built: The model, and where its hyperparameters come from.
        collaboration: Values, contributions, rewards, verdicts, models.
        residuals: Per party, how far its labels are from the others' prediction [n].
        scores: On test data, if there is any.
        seed: The secret seed of the noise.
        notes: Everything the operator should know.
    """

    preparation: Preparation
    built: BuiltModel
    collaboration: Collaboration
    residuals: FloatArray
    scores: Scores | None
    seed: int
    notes: tuple[Note, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)


def execute(
    preparation: Preparation,
    rho: float | str | None = None,
    seed: int | None = None,
    workers: Workers | None = None,
) -> Run:
    """Run the chain on prepared data.

    Args:
        preparation: From `prepare`.
        rho: Instead of the configuration's.
        seed: Of the noise, to repeat an earlier run; by default a fresh secret one.
        workers: Who values coalitions and reads tables, who is told about it, and where values are
            kept meanwhile.
    """
    workers = workers or Workers()
    configuration, encoding, progress = (
        preparation.configuration,
        preparation.encoding,
        workers.progress,
    )
    seed = secrets.randbits(128) if seed is None else seed
    kind = KINDS[configuration.model.kind]
    kind.refuse_too_many_rows([survey.rows for survey in preparation.parties], workers.here)
    seen = _share_of_keys(preparation)
    samples = [
        _sample(s, encoding, None if kind.needs_rows else SAMPLE_ROWS, progress, seen)
        for s in preparation.parties
    ]
    parties = [
        Party(section.name, X, y)
        for section, (X, y, _) in zip(configuration.parties, samples, strict=True)
    ]
    progress("learning hyperparameters")
    built = _build(preparation, parties, progress)
    data: Sequence[PartyData] = parties
    if not kind.needs_rows:
        assert isinstance(built.model, WeightModel)  # others need rows
        data = [
            summarise_files(p.name, s.source.files, encoding, built.model, workers)
            for p, s in zip(parties, preparation.parties, strict=True)
        ]
    progress("valuing, and making the models")
    valuers = workers if len(data) >= FEWEST_KEPT else replace(workers, checkpoint=None)
    collaboration = collaboration_of(
        data,
        built.model,
        configuration.rewards.rho if rho is None else rho,
        seed,
        contributions=configuration.valuation.contributions,
        evaluations=configuration.valuation.evaluations,
        precision=configuration.valuation.precision,
        workers=valuers,
        mechanism=configuration.rewards.mechanism,
    )
    progress("looking at residuals")
    residuals = held_out_residuals(collaboration.game, parties)
    scores, test_keys = None, np.empty(0, dtype=np.uint64)
    if preparation.test is not None:
        X, y, test_keys = _sample(preparation.test, encoding, None, progress, seen)
        scores = score_models(collaboration, X, y, encoding.scale)
    duplicates = duplicates_of_keys([p.name for p in parties], [keys for *_, keys in samples], seen)
    notes = [
        *preparation.notes,
        *built.notes,
        *workers.notes,
        *collaboration.scheme.notes,
        *duplicates.notes,
    ]
    notes += outlier_notes(preparation, parties)
    notes += overlap_notes(samples, test_keys, seen)
    if kind.disclosure.note is not None and preparation.public is None:
        notes.append(kind.disclosure.note)
    notes += residual_notes(parties, residuals)
    notes += few_rows_notes(collaboration)
    refuse_changed_files(preparation)
    return Run(
        preparation=preparation,
        built=built,
        collaboration=collaboration,
        residuals=residuals,
        scores=scores,
        seed=seed,
        notes=tuple(notes),
    )


def _sample(
    survey: Survey, encoding: TableEncoding, most: int | None, progress: Progress, seen: float = 0.0
) -> Sample:
    """All rows of a source, or a fair sample of them (those of the smallest keys), and the keys to
    find copies by.

    Of the keys, those below a share `seen` of their range are kept: the same ones at every party,
    so that copies are found in that share as they would be in all.
    """
    X, y = np.empty((0, len(encoding.features))), np.empty(0)
    kept, keys = np.empty(0, dtype=np.uint64), []
    blocks: list[tuple[FloatArray, FloatArray]] = []
    for batch_X, batch_y in encoded_batches(survey, encoding, progress):
        batch_keys = row_keys(batch_X, batch_y)
        keys.append(batch_keys[batch_keys < seen * 2.0**64] if seen < 1 else batch_keys)
        if most is None:
            blocks.append((batch_X, batch_y))
            continue
        low = batch_keys < kept.max() if len(kept) == most else slice(None)
        X, y = np.vstack([X, batch_X[low]]), np.append(y, batch_y[low])
        kept = np.append(kept, batch_keys[low])
        if len(kept) > most:
            smallest = np.sort(np.argpartition(kept, most)[:most])
            X, y, kept = X[smallest], y[smallest], kept[smallest]
    if most is None and blocks:
        X, y = np.vstack([b for b, _ in blocks]), np.concatenate([b for _, b in blocks])
    return X, y, np.concatenate(keys) if keys else kept


def _share_of_keys(preparation: Preparation) -> float:
    rows = sum(survey.rows for survey in preparation.parties)
    return min(1.0, MOST_KEYS / max(rows, 1))


def _build(preparation: Preparation, parties: Sequence[Party], progress: Progress) -> BuiltModel:
    section, encoding = preparation.configuration.model, preparation.encoding
    if preparation.public is not None:
        X, y, _ = _sample(preparation.public, encoding, 20 * SAMPLE_ROWS, progress)
        words = f"public data ({preparation.public.rows} rows)"
        return build_model(section, Origin(X=X, y=y, words=words, public=True), encoding)
    total = sum(s.rows for s in preparation.parties)
    origin = Origin(
        X=np.concatenate([party.X for party in parties]),
        y=np.concatenate([party.y for party in parties]),
        words=f"all parties' data ({total} rows)",
        public=False,
    )
    return build_model(section, origin, encoding)
