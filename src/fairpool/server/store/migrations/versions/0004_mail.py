"""Mail: how often somebody wants it, what is to be told, and what is sent."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Do it."""
    choice: sa.Column[str] = sa.Column(
        "mail", sa.String(length=7), nullable=False, server_default="at-once"
    )
    op.add_column("people", choice)
    time = sa.DateTime(timezone=True)
    op.create_table(
        "mails",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due", time, nullable=False),
        sa.Column("leased_until", time, nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("created", time, nullable=False),
        sa.Column("ended", time, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_mails_person_id"), "mails", ["person_id"], unique=False)
    op.create_index(op.f("ix_mails_due"), "mails", ["due"], unique=False)
    op.create_table(
        "notices",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("about", sa.String(length=8), nullable=False),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("invitation_id", sa.String(length=32), nullable=True),
        sa.Column("mail_id", sa.String(length=32), nullable=True),
        sa.Column("created", time, nullable=False),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["mail_id"], ["mails.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        op.f("ix_notices_collaboration_id"), "notices", ["collaboration_id"], unique=False
    )
    op.create_index(op.f("ix_notices_mail_id"), "notices", ["mail_id"], unique=False)
