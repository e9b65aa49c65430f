"""Every file of a run, as bytes: the operator's and each party's; `writing` writes them."""

from dataclasses import dataclass

from fairpool.consortium.folders import folder_names
from fairpool.consortium.operator_files import operator_files
from fairpool.consortium.party_files import Release, party_files, refusal_letter
from fairpool.consortium.scrutiny import Run
from fairpool.exchange.statement import SignedStatement

PREVIEW = Release()
"""Nothing is released."""


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """What a run gives.

    Attributes:
        files: Every file, by path: the operator's folder and one folder per party.
        statements: What the operator has signed, of each party that takes part; none: nothing.
    """

    files: dict[str, bytes]
    statements: tuple[SignedStatement, ...] = ()


def render(run: Run, release: Release = PREVIEW) -> Rendered:
    """Everything that a run gives.

    Args:
        run: What was computed.
        release: What files carry of it; by default it is a preview, without models
            (`fairpool.consortium.rounds.releasing` releases them).
    """
    # The report first: pictures are numbered as they are drawn, and the same run must give the same
    # bytes.
    of_operator = operator_files(run, released=release.head is not None)
    files = {f"operator/{name}": content for name, content in of_operator.items()}
    statements = []
    for i, folder in enumerate(folder_names(run.collaboration.game.names)):
        handed_out = party_files(run, i, release)
        if handed_out.statement is not None:
            statements.append(handed_out.statement)
        for name, content in handed_out.files.items():
            files[f"parties/{folder}/{name}"] = content
    for one, folder in zip(run.left_out, _folders(run)[run.collaboration.game.n :], strict=True):
        files[f"parties/{folder}/letter.html"] = refusal_letter(run, one).encode()
    return Rendered(files=files, statements=tuple(statements))


def _folders(run: Run) -> list[str]:
    """Every party's folder: of those who receive a model, then of those who were left out."""
    left_out = [one.evidence.party for one in run.left_out]
    return folder_names([*run.collaboration.game.names, *left_out])
