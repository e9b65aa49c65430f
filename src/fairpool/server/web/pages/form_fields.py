"""What a browser sends of the form of a draft."""

from typing import Annotated

from fastapi import Depends, Form

from fairpool.server.web.pages.form_draft import DraftForm

Text = Annotated[str, Form(max_length=100_000)]


def _typed(
    name: Text = "",
    contact: Text = "",
    target: Text = "",
    kind: Text = "number",
    levels: Text = "",
    columns: Text = "",
    parties: Text = "",
    rho: Text = "stable",
    size: Text = "",
    toml: Annotated[str, Form()] = "",
) -> DraftForm:
    """What was typed; browsers send line ends of another age."""
    return DraftForm(
        name=name,
        contact=contact,
        target=target,
        kind=kind,
        levels=levels,
        columns=columns.replace("\r\n", "\n"),
        parties=parties.replace("\r\n", "\n"),
        rho=rho,
        size=size,
        toml=toml.replace("\r\n", "\n"),
    )


Typed = Annotated[DraftForm, Depends(_typed)]
