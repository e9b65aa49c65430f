"""Jobs that cannot be stopped any longer."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Do it."""
    final: sa.Column[bool] = sa.Column(
        "is_final", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("jobs", final)
