"""What is to lie in the folder of a collaboration for a round, as the database tells it."""

import tomllib

from sqlalchemy.orm import Session

from fairpool.server.consortia.having import data_of
from fairpool.server.settings import Settings
from fairpool.server.store.tables import Party, Round, Terms
from fairpool.server.work.places import PartyFiles
from fairpool.server.work.project import Layout, folder_of


def layout_of(session: Session, settings: Settings, round_: Round) -> Layout:
    """What is to lie in the folder for a round that is closed.

    Args:
        session: Open.
        settings: Where collaborations are.
        round_: The round, whose terms are known.
    """
    agreed = session.get_one(Terms, round_.terms_id)
    uploads = {}
    for party_id, submitted in data_of(session, round_).items():
        party = session.get_one(Party, party_id)
        uploads[party.permanent] = tuple(
            (one.blob_id, one.suffix) for one in submitted if one.blob_id is not None
        )
    parties = []
    for section in tomllib.loads(agreed.toml).get("parties", []):
        permanent = section.get("id", section["name"])
        parties.append(PartyFiles(party=permanent, uploads=uploads.get(permanent, ())))
    return Layout(
        folder=folder_of(settings, round_.collaboration_id),
        toml=agreed.toml,
        plan=agreed.plan,
        parties=tuple(parties),
    )
