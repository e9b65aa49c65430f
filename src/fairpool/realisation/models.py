"""The models of all parties, by place or by name."""

from collections.abc import Iterable
from typing import SupportsIndex, overload

from fairpool.errors import few, shown
from fairpool.realisation.model_reward import ModelReward


class Models(tuple[ModelReward, ...]):
    """One model per party, in the parties' order; each also by its party's name: `models["north"]`.

    A slice is a tuple of models of some parties, and again goes by name.
    """

    __slots__ = ()

    def __new__(cls, models: Iterable[ModelReward]) -> "Models":
        """Of these."""
        return super().__new__(cls, models)

    @property
    def names(self) -> tuple[str, ...]:
        """Whose they are."""
        return tuple(model.party for model in self)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> ModelReward: ...
    @overload
    def __getitem__(self, key: slice) -> "Models": ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> "ModelReward | Models":
        """By position, by the party's name, or several by a slice."""
        if isinstance(key, slice):
            return Models(super().__getitem__(key))
        if not isinstance(key, str):
            return super().__getitem__(key)
        for model in self:
            if model.party == key:
                return model
        known = few([shown(name) for name in self.names]) or "none"
        raise KeyError(f"there is no party {shown(key)}; there are {known}")

    def __repr__(self) -> str:
        return f"Models({', '.join(map(repr, self))})"
