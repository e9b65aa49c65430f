"""Workers that were seen, so that somebody who watches the service knows of them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Do it."""
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
