"""A mail that an operator has sent to look whether mail is sent."""

from fairpool.server.mail.configured import MailServer
from fairpool.server.mail.smtp import send
from fairpool.server.mail.words import Said, Words
from fairpool.server.people.accounts import fit_email
from fairpool.server.store.tables import new_identity


def try_out(server: MailServer, *, to: str, address: str) -> None:
    """Send a mail that says nothing but that it came; an error says why it was not taken.

    Args:
        server: Where to.
        to: Who gets it.
        address: Of the service.
    """
    words = Words(
        to=fit_email(to),
        subject="fairpool: a test of mail",
        said=(Said(where="Nothing is to be done", text="Mail of this service arrives here."),),
        service=f"This is from the fairpool service at {address}.",
        stop="It was sent once, by whoever runs the service.",
    )
    send(server, words, identity=new_identity())
