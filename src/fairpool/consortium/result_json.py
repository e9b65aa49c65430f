"""A run as plain JSON: `result.json`, and `fairpool run --json`."""

from typing import Any

import numpy as np

from fairpool import __about__
from fairpool.consortium.folders import folder_names
from fairpool.consortium.scrutiny import Run
from fairpool.report.evidence import as_json as evidence_as_json
from fairpool.report.evidence import party_as_json
from fairpool.report.prediction import as_json, uncheckable_as_json
from fairpool.report.reasons import as_json as reasons_as_json


def result_of(run: Run) -> dict[str, Any]:
    """The run as plain JSON."""
    collaboration = run.collaboration.to_dict()
    folders = folder_names(run.collaboration.game.names)
    for i, party in enumerate(collaboration["parties"]):
        party.update(_about_party(run, i, folders[i]))
    return {
        "fairpool": __about__.__version__,
        "name": run.preparation.configuration.name,
        "round": 1 if run.preparation.context is None else run.preparation.context.number,
        **collaboration,
        "reasons": reasons_as_json(run.collaboration),
        "near_copies": run.copies.near.to_dict() | {"share_compared": run.copies.share},
        "warnings": list(run.warnings),
        "evidence": evidence_as_json(run.evidence),
        "left_out": [
            {"name": one.evidence.party, "evidence": party_as_json(one.evidence)}
            for one in run.left_out
        ],
        "model": {
            "origin": run.built.origin,
            "optimum_reached": run.built.optimum_reached,
            **run.built.settings,
        },
        "test": _scores(run),
        "since": _since(run),
    }


def _about_party(run: Run, i: int, folder: str) -> dict[str, Any]:
    """What there is about one party besides values and rewards."""
    collaboration = run.collaboration
    residual = float(run.residuals[i])
    assignment = run.contributions[i].assignment
    entries = {
        "table": run.preparation.treatments[i].to_dict(),
        "folder": f"parties/{folder}",
        "label_residual": residual if np.isfinite(residual) else None,
        "against_alone": as_json(run.against_alone[i]),
        "uncheckable": uncheckable_as_json(run.uncheckable[i]),
        "evidence": party_as_json(run.evidence.parties[i]),
    }
    if run.shares.validation is not None:
        entries["contribution_by_validation"] = float(run.shares.validation[i])
    if collaboration.kept is not None:
        entries["kept"] = float(collaboration.kept[i])
    entries["rows_waiting"] = assignment.waiting
    entries["rows_gone"] = assignment.gone
    entries["rows_spent"] = run.contributions[i].spent_rows
    if collaboration.received:
        entries["holds"] = collaboration.received[i].holds
        entries["sent"] = collaboration.received[i].sent
    return entries


def _scores(run: Run) -> dict[str, Any] | None:
    """The scores on test data, if there is any, by the keys of the target's measures."""
    if run.scores is None:
        return None
    entries = {
        "rows": run.scores.rows,
        "alone": list(run.scores.alone),
        "reward": list(run.scores.reward),
        "everyone": run.scores.everyone,
    }
    if run.scores.classes is not None:
        entries["classes"] = run.scores.classes.to_dict()
    return entries


def _since(run: Run) -> dict[str, Any] | None:
    """What changed since the last round, or why that cannot be told."""
    if run.since is None:
        return None
    if run.since.changes is None:
        return {"comparable": False, "reason": run.since.reason}
    return run.since.changes.to_dict()
