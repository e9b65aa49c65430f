"""What a service tells: records that never change, one for each answer of its API."""

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from fairpool.errors import ServiceError, shown

Told = TypeVar("Told")


def read(kind: type[Told], content: bytes) -> Told:
    """An answer as a record; entries that a newer service has besides are left out.

    Args:
        kind: Of the record; or a tuple of such records.
        content: JSON.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    try:
        found: Told = adapter.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ServiceError(
            f"the service answered what this fairpool does not know ({shown(place)}:"
            f" {first['msg']}); is the address right, and fairpool as new as the service?"
        ) from None
    return found
