"""What a party's people accepted and sent ends when all of them are gone."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

NAMES = {"uq": "%(table_name)s_%(column_0_N_name)s_key"}
"""As Postgres calls constraints that were given no name."""


def upgrade() -> None:
    """Do it."""
    submitted: sa.Column[object] = sa.Column("ended", sa.DateTime(timezone=True), nullable=True)
    op.add_column("submissions", submitted)
    with op.batch_alter_table("acceptances", naming_convention=NAMES) as batch:
        accepted: sa.Column[object] = sa.Column("ended", sa.DateTime(timezone=True), nullable=True)
        batch.add_column(accepted)
        batch.drop_constraint("acceptances_terms_id_party_id_key", type_="unique")
    still = sa.text("ended IS NULL")
    op.create_index(
        "one_acceptance_of_a_party",
        "acceptances",
        ["terms_id", "party_id"],
        unique=True,
        sqlite_where=still,
        postgresql_where=still,
    )
