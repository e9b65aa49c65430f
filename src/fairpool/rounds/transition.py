"""Two rounds side by side: who stayed, came and went, and every state in between."""

from dataclasses import dataclass
from functools import cached_property

from fairpool.models import Classifier, Model, WeightModel
from fairpool.parties import Party, PartyData
from fairpool.rounds.factors import JOINERS, LEAVERS, OTHERS_DATA, OWN_DATA, TERMS
from fairpool.rounds.round_game import RoundGame, Terms
from fairpool.rounds.sameness import fingerprint


@dataclass(frozen=True, kw_only=True)
class Gathering:
    """Who takes part with which data, somewhere between two rounds.

    Attributes:
        updated: Those of both rounds who have their new data; the others have the old ones.
        joined: Whether those who are new take part.
        left: Whether those who left are gone.
    """

    updated: frozenset[str]
    joined: bool
    left: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Transition:
    """From one round to the next.

    Attributes:
        before: The earlier round.
        after: The later one, with the same model.
    """

    before: RoundGame
    after: RoundGame

    @cached_property
    def stayers(self) -> tuple[str, ...]:
        """The ids of those who take part in both, in the later round's order."""
        return tuple(party for party in self.after.ids if party in self.before.ids)

    @cached_property
    def joiners(self) -> tuple[str, ...]:
        """Those of the later round alone."""
        return tuple(party for party in self.after.ids if party not in self.before.ids)

    @cached_property
    def leavers(self) -> tuple[str, ...]:
        """Those of the earlier round alone."""
        return tuple(party for party in self.before.ids if party not in self.after.ids)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The stayers whose data are not the same."""
        model = self.before.model
        changed = []
        for party in self.stayers:
            old = self.before.by_id[party]
            new = self.after.by_id[party]
            if old is not new and fingerprint(old, model) != fingerprint(new, model):
                changed.append(party)
        return frozenset(changed)

    def factors_of(self, party: str) -> tuple[str, ...]:
        """What changed, as one of the stayers sees it; all else is a null player."""
        factors = []
        if party in self.changed:
            factors.append(OWN_DATA)
        if self.changed - {party}:
            factors.append(OTHERS_DATA)
        if self.joiners:
            factors.append(JOINERS)
        if self.leavers:
            factors.append(LEAVERS)
        if self.terms_changed(party):
            factors.append(TERMS)
        return tuple(factors)

    def terms_changed(self, party: str) -> bool:
        """Whether the terms of one of the stayers changed."""
        if self.before.terms != self.after.terms:
            return True
        return self.before.kept_by(party) != self.after.kept_by(party)

    def gathering(self, party: str, switched: frozenset[str]) -> Gathering:
        """Who takes part when some factors, as a party sees them, are those of the later round."""
        updated: frozenset[str] = frozenset()
        if OWN_DATA in switched:
            updated |= {party}
        if OTHERS_DATA in switched:
            updated |= self.changed - {party}
        return Gathering(
            updated=updated,
            joined=JOINERS in switched or not self.joiners,
            left=LEAVERS in switched or not self.leavers,
        )

    @cached_property
    def start(self) -> Gathering:
        """The earlier round."""
        return Gathering(updated=frozenset(), joined=not self.joiners, left=not self.leavers)

    @cached_property
    def end(self) -> Gathering:
        """The later round."""
        return Gathering(updated=self.changed, joined=True, left=True)

    @cached_property
    def data_choices(self) -> frozenset[frozenset[str]]:
        """Every choice of stayers with new data that somebody looks at."""
        choices = {frozenset(), self.changed}
        for party in self.changed:
            choices |= {frozenset({party}), self.changed - {party}}
        return frozenset(choices)

    def ids_of(self, gathering: Gathering) -> tuple[str, ...]:
        """Who takes part; in a round's own order, by which contributions were sampled."""
        if gathering == self.end:
            return self.after.ids
        if gathering == self.start:
            return self.before.ids
        ids = self.stayers
        if gathering.joined:
            ids += self.joiners
        if not gathering.left:
            ids += self.leavers
        return ids

    @cached_property
    def everybody(self) -> tuple[str, ...]:
        """All parties of either round."""
        return self.stayers + self.joiners + self.leavers

    def terms(self, *, new: bool) -> Terms:
        """The terms of one of the rounds."""
        return self.after.terms if new else self.before.terms

    def kept_by(self, party: str, *, new: bool) -> float:
        """What one of the stayers keeps by the terms of one of the rounds."""
        return self.after.kept_by(party) if new else self.before.kept_by(party)

    @cached_property
    def old_data(self) -> dict[str, PartyData]:
        """The earlier round's data, as little of them as the model needs."""
        return {party: _summed_up(data, self.model) for party, data in self.before.by_id.items()}

    @cached_property
    def new_data(self) -> dict[str, PartyData]:
        """The later round's; the very same where nothing changed."""
        new = {}
        for party, data in self.after.by_id.items():
            if party in self.changed or party in self.joiners:
                new[party] = _summed_up(data, self.model)
            else:
                new[party] = self.old_data[party]
        return new

    @property
    def model(self) -> Model:
        """The model of both."""
        return self.before.model

    def data_of(self, ids: tuple[str, ...], updated: frozenset[str]) -> tuple[PartyData, ...]:
        """Some parties' data."""
        data = []
        for party in ids:
            if party in updated or party in self.joiners:
                data.append(self.new_data[party])
            else:
                data.append(self.old_data[party])
        return tuple(data)


def _summed_up(data: PartyData, model: Model) -> PartyData:
    """Sums instead of rows where the model needs no more, so that rows are looked at only once."""
    if not isinstance(data, Party) or data.noise_variance is not None:
        return data
    if isinstance(model, WeightModel) or (
        isinstance(model, Classifier) and model.has_weights and model.shared
    ):
        return model.summarise(data)
    return data
