"""What the ledger is told of a run, and of its release."""

import hashlib
from typing import Any

from fairpool.consortium.folders import REWARD_FILE, folder_names
from fairpool.consortium.scrutiny import Run
from fairpool.rounds.history import Participation

RUN = "run"
"""The kind of the record that letters and files carry the hash of."""


def run_body(run: Run, number: int) -> dict[str, Any]:
    """What is recorded of a run before anything of it is written."""
    result = run.collaboration
    parties = [
        {
            "id": contribution.id,
            "name": contribution.data.name,
            "rows": len(contribution.data),
            "inputs": _inputs(contribution),
        }
        for contribution in run.contributions
    ]
    return {
        "round": number,
        "rho": result.asked,
        "total": result.game.total,
        "terms": hashlib.sha256(run.preparation.text.encode()).hexdigest(),
        "parties": parties,
        "summary": f"round {number} of {result.game.n} parties was computed",
    }


def release_body(
    run: Run, files: dict[str, bytes], *, place: str, agreement: str
) -> dict[str, Any]:
    """What is recorded of a release."""
    context = run.preparation.context
    assert context is not None
    result = run.collaboration
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    parts = {}
    batches = {}
    for contribution in run.contributions:
        for name in contribution.assignment.batches.active:
            batch = contribution.assignment.batches.batches[name]
            batches[name] = {"party": contribution.id, "parts": list(batch.parts)}
        for name in contribution.assignment.part_names:
            part = contribution.assignment.batches.parts[name]
            parts[name] = {
                "party": contribution.id,
                "parent": part.parent,
                "rows": len(part),
                "key": context.secret.fingerprint,
                "contribution": part.contribution,
            }
    participations = _participations(run, hashes, place)
    sent = sum(one.file is not None for one in participations)
    return {
        "round": context.number,
        "folder": place,
        "files": hashes,
        "rho": result.asked,
        "rho_used": result.rho,
        "contributions": result.contributions.concept.name,
        "total": result.game.total,
        "kept": None if result.kept is None else result.kept.tolist(),
        "terms": hashlib.sha256(run.preparation.text.encode()).hexdigest(),
        "agreement": agreement,
        "parties": [one.to_dict() for one in participations],
        "parts": parts,
        "batches": batches,
        "second_looks": _second_looks(run),
        "summary": f"round {context.number}: {sent} new model(s) for {result.game.n} parties",
    }


def _second_looks(run: Run) -> dict[str, int]:
    """By party, how many rows of earlier rounds come again with new noise, as was booked."""
    booked = {}
    for contribution in run.contributions:
        if contribution.recognition.second_looks:
            booked[contribution.id] = contribution.recognition.second_looks
    return booked


def _participations(run: Run, hashes: dict[str, str], place: str) -> list[Participation]:
    """Who took part, what it was sent, and what it holds."""
    result = run.collaboration
    scale = run.preparation.encoding.target.noise_scale
    folders = folder_names(result.game.names)
    sections = {section.permanent_id: section for section in run.preparation.configuration.parties}
    participations = []
    for i, contribution in enumerate(run.contributions):
        path = f"parties/{folders[i]}/{REWARD_FILE}"
        file = hashes.get(path)
        model = result.models[i]
        holds = model.value
        etas: dict[str, float] = {}
        if run.collaboration.received:
            holds = run.collaboration.received[i].holds
            for part, of_part in run.collaboration.received[i].etas.items():
                if of_part < float("inf"):
                    etas[part] = of_part * scale**2
        eta: float | None = None
        if file is not None and model.eta < float("inf"):
            eta = model.eta * scale**2
        participations.append(
            Participation(
                id=contribution.id,
                name=contribution.data.name,
                rows=len(contribution.data),
                waiting=contribution.assignment.waiting,
                batches=tuple(sorted(contribution.assignment.batches.active)),
                identity=contribution.identities.columns,
                inputs=tuple(_inputs(contribution)),
                value=float(result.game.alone[i]),
                reward=float(result.rewards[i]),
                holds=holds,
                eta=eta,
                file=file,
                path=None if file is None else f"{place}/{path}",
                etas=etas,
                gone=contribution.assignment.gone,
                most=sections[contribution.id].share_wanted,
                spent=tuple(sorted(contribution.assignment.spent)),
                noisy=contribution.is_noisy,
            )
        )
    return participations


def _inputs(contribution: Any) -> list[str]:
    """The SHA-256 of a party's files, in order."""
    contents = contribution.survey.contents
    return [contents[file].sha256 for file in contribution.survey.source.files]
