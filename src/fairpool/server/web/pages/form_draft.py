"""The form of a draft as people fill it in: few fields, and lists with a thing on each line."""

import re
from dataclasses import dataclass, replace

from fairpool.errors import ConfigurationError, shown
from fairpool.server.consortia.form import Column, End, Form, PartyFields

RHOS = (
    (
        "stable",
        "As strictly as it pays for every group to stay together",
        "The largest rho at which no group of parties would have more by itself. A good start.",
    ),
    (
        "fair",
        "In proportion to contributions",
        "Who contributes more receives more, as strictly as can be.",
    ),
    (
        "rational",
        "As strictly as it pays for each party to take part",
        "The largest rho at which nobody receives less than it has alone.",
    ),
    ("welfare", "Not at all", "Everybody receives the best model."),
)
"""Choices for rho: the word of collaboration.toml, what it means, and more on that."""

MODEL = "sparse_gp"
"""What a new draft begins with."""

NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
DAY = r"\d{4}-\d{2}-\d{2}"
RANGE = re.compile(rf"({DAY}|{NUMBER})\s+to\s+({DAY}|{NUMBER})(?:\s+(\S+))?")
"""What a column's values may be, and in which unit: "0 to 120", "10 to 70 kg/m2"."""

WHOLE = re.compile(r"[1-9][0-9]{0,5}")

KEY = re.compile(r"(.+?):\s*(ed25519:[0-9a-f]+)")
"""A party that signs its sums with a key."""


@dataclass(frozen=True, kw_only=True)
class DraftForm:
    """What was typed into the form.

    Attributes:
        name: Of the collaboration.
        contact: Whom parties may ask.
        target: The column to predict; after a colon, what its values may be.
        kind: "number" or "classes".
        levels: The classes, with commas between.
        columns: The columns to predict it from, one a line, likewise.
        parties: Their names, one a line; after a colon the key of one that sends sums.
        rho: A word of `RHOS`, or a number.
        size: How many inducing points the model has; empty: as many as by default.
        has_size: Whether the draft's model is one that has them.
        toml: A whole collaboration.toml instead.
    """

    name: str = ""
    contact: str = ""
    target: str = ""
    kind: str = "number"
    levels: str = ""
    columns: str = ""
    parties: str = ""
    rho: str = "stable"
    size: str = ""
    has_size: bool = True
    toml: str = ""

    @classmethod
    def of(cls, form: Form) -> "DraftForm | None":
        """What would be typed for a draft; None: it says more than can be typed here."""
        typed = cls(
            name=form.name,
            contact=form.contact,
            target=_line_of(replace(form.target, levels=())),
            kind="classes" if form.has_classes else "number",
            levels=", ".join(form.target.levels),
            columns="\n".join(map(_line_of, form.inputs)),
            parties="\n".join(map(_party_line, form.parties)),
            rho=str(form.rho),
            size="" if form.inducing_points is None else str(form.inducing_points),
            has_size=form.model == MODEL,
        )
        try:
            is_same = typed.filled_in(form) == form
        except ConfigurationError:
            is_same = False
        return typed if is_same else None

    def problems(self) -> dict[str, str]:
        """What is wrong, by field."""
        wrong = {}
        if not self.name.strip():
            wrong["name"] = "Give it a name."
        if not self.target.strip():
            wrong["target"] = "Say which column is to be predicted."
        if self.kind == "classes" and len(_parts(self.levels)) < 2:
            wrong["levels"] = "Give all classes, two at least, with commas between."
        wrong |= _wrong_columns(self.target, "target") | _wrong_columns(self.columns, "columns")
        if not _lines(self.columns):
            wrong["columns"] = "Name the columns, so that all know what their tables must have."
        names = [_party(line).name for line in _lines(self.parties)]
        if len(names) < 2:
            wrong["parties"] = "Give two parties at least, one a line."
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            wrong["parties"] = f"{shown(twice[0])} stands there twice; each party has its own name."
        if self.size.strip() and not WHOLE.fullmatch(self.size.strip()):
            wrong["size"] = (
                f"{shown(self.size)} is no whole number from 1 on; give one, or nothing."
            )
        return wrong

    def filled_in(self, before: Form | None = None) -> Form:
        """The form as it is kept.

        Args:
            before: What it was, whose other settings stay; None: a new one.
        """
        target = _column(self.target)
        if self.kind == "classes":
            target = replace(target, levels=tuple(_parts(self.levels)))
        kept = Form(model=MODEL) if before is None else before
        points = kept.inducing_points
        if kept.model == MODEL:
            points = int(self.size) if self.size.strip() else None
        return replace(
            kept,
            name=self.name.strip(),
            contact=self.contact.strip(),
            target=target,
            inputs=tuple(_column(line) for line in _lines(self.columns)),
            parties=tuple(_party(line) for line in _lines(self.parties)),
            rho=_rho(self.rho),
            inducing_points=points,
        )


def _wrong_columns(text: str, field: str) -> dict[str, str]:
    for line in _lines(text):
        try:
            _column(line)
        except ConfigurationError as error:
            return {field: str(error)}
    return {}


def _column(line: str) -> Column:
    """A column as it was typed.

    >>> _column("bmi: 10 to 70 kg/m2")
    Column(name='bmi', kind='', lowest=10, highest=70, unit='kg/m2', levels=(), missing='')
    >>> _column("sex: female, male").levels
    ('female', 'male')
    """
    name, _, values = (part.strip() for part in line.partition(":"))
    if not name:
        raise ConfigurationError(f"{shown(line)} has no name of a column before the colon.")
    if not values:
        return Column(name=name)
    found = RANGE.fullmatch(values)
    if found:
        return Column(name=name, lowest=_end(found[1]), highest=_end(found[2]), unit=found[3] or "")
    levels = _parts(values)
    if len(levels) < 2:
        raise ConfigurationError(
            f"{shown(line)}: say a range, as in “age: 0 to 120”, or all its levels, as in"
            " “sex: female, male”."
        )
    return Column(name=name, kind="category", levels=tuple(levels))


def _line_of(column: Column) -> str:
    """What would be typed for a column, as far as it can be."""
    if column.lowest is not None and column.highest is not None:
        return f"{column.name}: {column.lowest} to {column.highest} {column.unit}".rstrip()
    if column.levels:
        return f"{column.name}: {', '.join(column.levels)}"
    return column.name


def _party(line: str) -> PartyFields:
    found = KEY.fullmatch(line)
    if found:
        return PartyFields(name=found[1].strip(), key=found[2])
    return PartyFields(name=line)


def _party_line(party: PartyFields) -> str:
    return f"{party.name}: {party.key}" if party.key else party.name


def _end(text: str) -> End:
    """An end of a range: a day, a whole number or another one."""
    if re.fullmatch(DAY, text):
        return text
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _rho(text: str) -> float | str:
    return float(text) if re.fullmatch(NUMBER, text) else text


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
