"""A draft as a form: the settings that most consortia need, and the text that they stand for.

A text that says more than the form has fields for has no form, and is edited as a text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.configuration_file import toml_values
from fairpool.consortium.guessing.toml_text import key_of, list_of, text_of
from fairpool.errors import FairpoolError

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

End = float | str
"""Of a range: a number, or a day such as 2024-12-31."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the form.

    Attributes:
        name: As all call it.
        kind: "number", "category", "date"; empty: as values are.
        lowest: What values may be; None: nothing is said.
        highest: Likewise.
        unit: In which it is; empty: none is said.
        levels: Of a category.
        missing: "error", "drop" or "impute"; empty: as for all columns.
    """

    name: str
    kind: str = ""
    lowest: End | None = None
    highest: End | None = None
    unit: str = ""
    levels: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class PartyFields:
    """A party of the form.

    Attributes:
        name: What it is called.
        id: By which it is known in all rounds; empty: its name.
        key: With which it signs its sums; empty: it sends rows.
        most: The share of the value of all data that it wants at most; None: all.
    """

    name: str
    id: str = ""
    key: str = ""
    most: float | None = None


@dataclass(frozen=True, kw_only=True)
class Form:
    """The settings of a draft that are fields.

    Attributes:
        name: Of the collaboration.
        contact: Whom parties may ask; empty: nobody is named.
        target: The column that is predicted, of numbers or of classes.
        inputs: The columns from which it is.
        missing: What becomes of missing values; empty: as by default.
        model: Which kind; empty: as by default.
        inducing: Where inducing points come from; empty: as by default.
        inducing_points: How many; None: as by default.
        rho: A number or a word; empty: as by default.
        on_harm: What becomes of labels that do not agree; empty: as by default.
        parties: Who takes part.
    """

    name: str = ""
    contact: str = ""
    target: Column = Column(name="")
    inputs: tuple[Column, ...] = ()
    missing: str = ""
    model: str = ""
    inducing: str = ""
    inducing_points: int | None = None
    rho: float | str = ""
    on_harm: str = ""
    parties: tuple[PartyFields, ...] = ()

    @property
    def has_classes(self) -> bool:
        """Whether the target is one of classes."""
        return bool(self.target.levels)


def toml_of(form: Form) -> str:
    """The text that a form stands for.

    Args:
        form: Filled in as far as it is; what is empty is left out.
    """
    return "\n".join(_lines(form)) + "\n"


def form_of(toml: str) -> Form | None:
    """The form that stands for a text; None: the text says more.

    Args:
        toml: A draft.
    """
    try:
        values = toml_values(toml, FILE_NAME)
        form = _form(values)
        is_all = toml_values(toml_of(form), FILE_NAME) == values
    except (FairpoolError, AttributeError, KeyError, TypeError, ValueError):
        return None
    return form if is_all else None


def _lines(form: Form) -> Iterator[str]:
    yield from _settings(name=form.name, contact=form.contact)
    if form.target.name and not form.has_classes:
        yield f"target = {text_of(form.target.name)}"
    if form.inputs:
        yield f"features = {list_of([column.name for column in form.inputs])}"
    yield from _settings(missing=form.missing)
    if form.has_classes:
        yield from ("", "[target]")
        yield from _settings(column=form.target.name, kind="classes", levels=form.target.levels)
    for column in (form.target, *form.inputs):
        yield from _column_lines(column, is_class=column is form.target and form.has_classes)
    yield from _section(
        "model",
        kind=form.model,
        inducing=form.inducing,
        inducing_points=form.inducing_points,
    )
    yield from _section("rewards", rho=form.rho, on_harm=form.on_harm)
    for party in form.parties:
        yield from ("", "[[parties]]")
        yield from _settings(name=party.name, id=party.id, key=party.key, most=party.most)


def _column_lines(column: Column, *, is_class: bool) -> Iterator[str]:
    settings: dict[str, Any] = {
        "kind": column.kind,
        "unit": column.unit,
        "levels": () if is_class else column.levels,
        "missing": column.missing,
    }
    if column.lowest is not None and column.highest is not None:
        settings["range"] = (column.lowest, column.highest)
    yield from _section(f"columns.{key_of(column.name)}", **settings)


def _section(name: str, **settings: Any) -> Iterator[str]:
    lines = [*_settings(**settings)]
    if lines:
        yield from ("", f"[{name}]", *lines)


def _settings(**settings: Any) -> Iterator[str]:
    """What is given, a line each."""
    for key, value in settings.items():
        if value not in ("", None, ()):
            yield f"{key} = {_value(key, value)}"


def _value(key: str, value: Any) -> str:
    if key == "range":
        return f"[{', '.join(_end(end) for end in value)}]"
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, Sequence):
        return list_of(value)
    return repr(value)


def _end(end: End) -> str:
    if isinstance(end, str):
        return end if _DAY.fullmatch(end) else text_of(end)
    return repr(end)


def _form(values: dict[str, Any]) -> Form:
    columns = values.get("columns", {})
    target = values.get("target", "")
    classes: tuple[str, ...] = ()
    if isinstance(target, dict):
        classes = tuple(target["levels"])
        target = target["column"]
    of_target = _column(target, columns.get(target, {}), classes)
    model = values.get("model", {})
    rewards = values.get("rewards", {})
    return Form(
        name=values.get("name", ""),
        contact=values.get("contact", ""),
        target=of_target,
        inputs=tuple(_column(name, columns.get(name, {})) for name in values.get("features", [])),
        missing=values.get("missing", ""),
        model=model.get("kind", ""),
        inducing=model.get("inducing", ""),
        inducing_points=model.get("inducing_points"),
        rho=rewards.get("rho", ""),
        on_harm=rewards.get("on_harm", ""),
        parties=tuple(
            PartyFields(
                name=party["name"],
                id=party.get("id", ""),
                key=party.get("key", ""),
                most=party.get("most"),
            )
            for party in values.get("parties", [])
        ),
    )


def _column(name: str, said: dict[str, Any], classes: tuple[str, ...] = ()) -> Column:
    lowest, highest = said.get("range", (None, None))
    return Column(
        name=name,
        kind=said.get("kind", ""),
        lowest=_as_end(lowest),
        highest=_as_end(highest),
        unit=said.get("unit", ""),
        levels=classes or tuple(said.get("levels", ())),
        missing=said.get("missing", ""),
    )


def _as_end(end: Any) -> End | None:
    return end.isoformat() if isinstance(end, date) else end
