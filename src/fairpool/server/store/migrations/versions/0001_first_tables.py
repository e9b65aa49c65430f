"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Do it."""
    op.create_table(
        "attempts",
        sa.Column("subject", sa.String(length=80), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("last", sa.DateTime(timezone=True), nullable=False),
        sa.Column("locked_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("subject"),
    )
    op.create_table(
        "blobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=False),
        sa.Column("may_create", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email"),
    )
    op.create_table(
        "collaborations",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("draft", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("collaborations", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_collaborations_created_by"), ["created_by"], unique=False
        )

    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("form_token", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("digest"),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_person_id"), ["person_id"], unique=False)

    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_person_id"), ["person_id"], unique=False)

    op.create_table(
        "parties",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("permanent", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("public_key", sa.String(length=100), nullable=True),
        sa.Column("left", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collaboration_id", "permanent"),
    )
    with op.batch_alter_table("parties", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_parties_collaboration_id"), ["collaboration_id"], unique=False
        )

    op.create_table(
        "terms",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("proposed", sa.DateTime(timezone=True), nullable=False),
        sa.Column("proposed_by", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["proposed_by"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collaboration_id", "version"),
    )
    with op.batch_alter_table("terms", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_terms_collaboration_id"), ["collaboration_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_terms_proposed_by"), ["proposed_by"], unique=False)

    op.create_table(
        "acceptances",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("terms_id", sa.String(length=32), nullable=False),
        sa.Column("party_id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("time", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["party_id"], ["parties.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["terms_id"], ["terms.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("terms_id", "party_id"),
    )
    with op.batch_alter_table("acceptances", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_acceptances_party_id"), ["party_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_acceptances_person_id"), ["person_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_acceptances_terms_id"), ["terms_id"], unique=False)

    op.create_table(
        "events",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=True),
        sa.Column("party_id", sa.String(length=32), nullable=True),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["party_id"], ["parties.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collaboration_id", "number"),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_events_collaboration_id"), ["collaboration_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_events_party_id"), ["party_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_events_person_id"), ["person_id"], unique=False)

    op.create_table(
        "invitations",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=True),
        sa.Column("role", sa.String(length=8), nullable=False),
        sa.Column("party_id", sa.String(length=32), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.String(length=32), nullable=True),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=True),
        sa.Column("used_by", sa.String(length=32), nullable=True),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["party_id"], ["parties.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["used_by"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("invitations", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_invitations_collaboration_id"), ["collaboration_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_invitations_created_by"), ["created_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_invitations_party_id"), ["party_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_invitations_used_by"), ["used_by"], unique=False)

    op.create_table(
        "memberships",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("role", sa.String(length=8), nullable=False),
        sa.Column("party_id", sa.String(length=32), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("(role = 'party') = (party_id IS NOT NULL)", name="party_of_members"),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["party_id"], ["parties.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collaboration_id", "person_id"),
    )
    with op.batch_alter_table("memberships", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_memberships_collaboration_id"), ["collaboration_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_memberships_party_id"), ["party_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_memberships_person_id"), ["person_id"], unique=False)

    op.create_table(
        "rounds",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=9), nullable=False),
        sa.Column("terms_id", sa.String(length=32), nullable=True),
        sa.Column("preview_id", sa.String(length=32), nullable=True),
        sa.Column("opened", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["terms_id"], ["terms.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collaboration_id", "number"),
    )
    with op.batch_alter_table("rounds", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_rounds_collaboration_id"), ["collaboration_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_rounds_terms_id"), ["terms_id"], unique=False)

    op.create_table(
        "auditor_signatures",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("round_id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("time", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("round_id", "person_id"),
    )
    with op.batch_alter_table("auditor_signatures", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_auditor_signatures_person_id"), ["person_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_auditor_signatures_round_id"), ["round_id"], unique=False
        )

    op.create_table(
        "releases",
        sa.Column("round_id", sa.String(length=32), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("released", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_by", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["released_by"], ["people.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("round_id"),
    )
    with op.batch_alter_table("releases", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_releases_released_by"), ["released_by"], unique=False)

    op.create_table(
        "submissions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("round_id", sa.String(length=32), nullable=False),
        sa.Column("party_id", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.Column("blob_id", sa.String(length=32), nullable=True),
        sa.Column("file_name", sa.String(length=200), nullable=False),
        sa.Column("suffix", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=9), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["blob_id"], ["blobs.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["party_id"], ["parties.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_submissions_blob_id"), ["blob_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submissions_party_id"), ["party_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submissions_person_id"), ["person_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submissions_round_id"), ["round_id"], unique=False)

    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("collaboration_id", sa.String(length=32), nullable=False),
        sa.Column("round_id", sa.String(length=32), nullable=False),
        sa.Column("submission_id", sa.String(length=32), nullable=True),
        sa.Column("kind", sa.String(length=7), nullable=False),
        sa.Column("state", sa.String(length=9), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=100), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel", sa.Boolean(), nullable=False),
        sa.Column("stage", sa.String(length=200), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.String(length=32), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["collaboration_id"], ["collaborations.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_jobs_collaboration_id"), ["collaboration_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_jobs_created_by"), ["created_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_jobs_round_id"), ["round_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_jobs_submission_id"), ["submission_id"], unique=False)
        batch_op.create_index(
            "one_job_at_a_time",
            ["collaboration_id"],
            unique=True,
            sqlite_where=sa.text("state IN ('queued', 'running') AND kind <> 'check'"),
            postgresql_where=sa.text("state IN ('queued', 'running') AND kind <> 'check'"),
        )
