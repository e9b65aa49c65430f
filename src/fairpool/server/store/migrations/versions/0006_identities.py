"""Who people are at a provider, and sign-ins that were begun there."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Do it."""
    op.add_column("sessions", sa.Column("until", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "identities",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("issuer", "subject"),
        sa.UniqueConstraint("person_id", "issuer"),
    )
    op.create_index("ix_identities_person_id", "identities", ["person_id"])
    op.create_table(
        "arrivals",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("browser", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=80), nullable=False),
        sa.Column("wanted", sa.String(length=500), nullable=False),
        sa.Column("invitation_id", sa.String(length=32), nullable=True),
        sa.Column("person_id", sa.String(length=32), nullable=True),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("digest"),
    )
    for column in ("source", "person_id"):
        op.create_index(f"ix_arrivals_{column}", "arrivals", [column])
