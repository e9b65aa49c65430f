"""A template of a data agreement: what the configuration says, in the words of a contract.

What only people can fill in is left blank. It is a beginning for those who write contracts, and no
legal advice.
"""

from pathlib import Path

from fairpool.compute.private_files import write_new
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.rounds.context import home_of, read_plan
from fairpool.contributions import concept_of
from fairpool.errors import DataError
from fairpool.exchange.plan import SignedPlan
from fairpool.model_kinds import KINDS
from fairpool.report.model_card import as_markdown
from fairpool.report.report import templates

RHO = {
    "fair": "1, so that rewards are in proportion to contributions",
    "rational": "the largest value at which no party receives less information than it has alone",
    "stable": "the largest value at which no group of parties would have more by itself",
    "welfare": "0, so that everybody receives the best model",
}
"""What the words for rho mean."""

ON_HARM = {
    "warn": "the operator and that party are told, and nothing else happens",
    "discount": "that party keeps less of what the others' data would have added to its model",
    "exclude": "everything is computed without its data, and it receives no model",
    "stop": "nothing is released until all have decided what to do",
}
"""What becomes of a party whose labels do not agree with the others'."""


def data_agreement(configuration: Path) -> str:
    """The template as Markdown, its blanks filled as far as the configuration goes.

    Args:
        configuration: The folder with collaboration.toml, or the file.
    """
    agreed = load_configuration(configuration)
    return render_agreement(agreed, read_plan(home_of(configuration)))


def render_agreement(configuration: Configuration, plan: SignedPlan | None) -> str:
    """The same of a configuration, and of the plan that goes with it; None: there is none."""
    rewards = configuration.rewards
    kind = KINDS[configuration.model.kind]
    template = templates().get_template("agreement.md.j2")
    return template.render(
        md=as_markdown,
        configuration=configuration,
        plan=plan,
        parties=configuration.parties,
        rewards=rewards,
        model=kind.title,
        holds_rows=kind.disclosure.holds_rows,
        rho=_rho_in_words(rewards.rho),
        measured=concept_of(configuration.valuation.contributions).words.glossary,
        on_harm=ON_HARM[rewards.on_harm],
    )


def _rho_in_words(rho: float | str) -> str:
    return RHO[rho] if isinstance(rho, str) else f"{rho:g}"


def write_agreement(text: str, out: Path) -> None:
    """Write the template to a new file."""
    try:
        write_new(out, text.encode())
    except FileExistsError:
        raise DataError(f"{out} exists already; remove it, or give another place") from None
    except OSError as error:
        raise DataError(
            f"{out}: cannot be written ({error.strerror or error}); give another place"
        ) from None
