"""A mail as it goes to a server: plain text, and the same in HTML without anything to be loaded."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape

from fairpool.server.mail.words import Words
from fairpool.server.store.tables import now

SEVEN_BITS = SMTP.clone(cte_type="7bit")
"""As every server takes it."""

NAME = "fairpool"
"""Of whoever writes."""


def message_of(words: Words, *, sender: str, identity: str) -> EmailMessage:
    """A message.

    Args:
        words: What it says.
        sender: The address that it is from.
        identity: Of the mail: sent again after nobody knows what, it is still the same message, and
            programs that read mail show it once.
    """
    message = EmailMessage(policy=SEVEN_BITS)
    message["From"] = Address(display_name=NAME, addr_spec=sender)
    message["To"] = Address(addr_spec=words.to)
    message["Subject"] = words.subject
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{identity}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"  # nobody's absence answers
    if words.stop_link:
        message["List-Unsubscribe"] = f"<{words.stop_link}>"
    message.set_content(_plain(words))
    message.add_alternative(_html(words), subtype="html")
    return message


def _plain(words: Words) -> str:
    parts = [f"{one.where}:\n{one.text}\n{one.link}".rstrip() for one in words.said]
    parts.append("-- ")
    parts.append(words.service)
    parts.append(f"{words.stop}\n{words.stop_link}".rstrip())
    return "\n\n".join(parts) + "\n"


def _html(words: Words) -> str:
    parts = []
    for one in words.said:
        text = f"<strong>{escape(one.where)}</strong><br>{escape(one.text)}"
        if one.link:
            text += f"<br>{_linked(one.link)}"
        parts.append(f"<p>{text}</p>")
    stop = escape(words.stop)
    if words.stop_link:
        stop += f" {_linked(words.stop_link)}"
    parts.append(f"<hr><p>{escape(words.service)}<br>{stop}</p>")
    return "<!doctype html><html><body>" + "\n".join(parts) + "</body></html>\n"


def _linked(address: str) -> str:
    return f'<a href="{escape(address)}">{escape(address)}</a>'
