"""A figure's points as rows, in the form in which they are kept, drawn and checked."""

from typing import Any

Rows = list[dict[str, Any]]
"""One entry per point, by the names of its fields."""


def where(rows: Rows, **fields: Any) -> Rows:
    """The rows whose fields have these values.

    >>> where([{"rho": 1.0, "party": 1}, {"rho": 0.5, "party": 1}], rho=0.5)
    [{'rho': 0.5, 'party': 1}]
    """

    def fits(row: dict[str, Any]) -> bool:
        return all(row[name] == value for name, value in fields.items())

    return [row for row in rows if fits(row)]


def column(rows: Rows, name: str) -> list[Any]:
    """One field of every row.

    >>> column([{"rho": 1.0}, {"rho": 0.5}], "rho")
    [1.0, 0.5]
    """
    return [row[name] for row in rows]
