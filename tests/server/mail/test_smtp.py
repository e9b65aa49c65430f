import socket
import ssl
import threading
import time

import pytest

from fairpool.server.mail.configured import MailServer
from fairpool.server.mail.smtp import NotSentError, send
from fairpool.server.mail.words import Said, Words
from tests.client.certificates import certificate
from tests.server.mail.mailbox import PASSWORD, let_in, mailbox


def words(to="anna@example.org", where="“clinics”", text="Read the terms.") -> Words:
    return Words(
        to=to,
        subject="fairpool at pool.example.org: something for you",
        said=(Said(where=where, text=text, link="https://pool.example.org/collaborations/x"),),
        service="This is from the fairpool service at https://pool.example.org.",
        stop="Have it write once a day at most, or never:",
        stop_link="https://pool.example.org/account",
    )


def refusal(server: MailServer, to: str = "anna@example.org") -> NotSentError:
    with pytest.raises(NotSentError, match="mail") as refused:
        send(server, words(to), identity="m1")
    return refused.value


def test_a_mail_arrives_in_text_and_in_html_without_anything_to_be_loaded() -> None:
    with mailbox() as box:
        send(box.server(), words(where="“a <b>”"), identity="m1")
    (message,) = box.messages
    assert box.envelopes[0][1].isascii()  # which every server takes
    assert message["From"] == "fairpool <fairpool@pool.example.org>"
    assert message["To"] == "anna@example.org"
    assert message["Message-ID"] == "<m1@pool.example.org>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["List-Unsubscribe"] == "<https://pool.example.org/account>"
    (plain,) = box.to("anna@example.org")
    assert "“a <b>”:\nRead the terms.\nhttps://pool.example.org/collaborations/x" in plain
    assert "the fairpool service at https://pool.example.org" in plain
    assert "https://pool.example.org/account" in plain
    html = message.get_body(("html",)).get_content()
    assert "“a &lt;b&gt;”" in html
    for loaded in ("<img", "src=", "<link", "<style", "url(", "<script"):
        assert loaded not in html


@pytest.mark.parametrize(
    "to",
    [
        "anna@example.org\r\nBcc: all@example.org",
        "anna@example.org\nX-More: yes",
        "anna@example.org, all@example.org",
        "group:all@example.org;@example.org",
        "<anna@example.org>",
        "anna",
        "",
    ],
)
def test_an_address_adds_nothing_above_a_mail(to: str) -> None:
    with mailbox() as box:
        refused = refusal(box.server(), to)
    assert refused.is_final
    assert box.envelopes == []


def test_a_name_adds_nothing_above_a_mail() -> None:
    name = "“x\r\nBcc: all@example.org\r\n\r\n.\r\nMAIL FROM:<a@b.org>”"
    with mailbox() as box:
        send(box.server(), words(where=name), identity="m1")
    (message,) = box.messages
    assert message["Bcc"] is None
    assert [to for to, _ in box.envelopes] == ["anna@example.org"]


def test_an_address_that_the_server_refuses_is_refused_for_good_or_for_now() -> None:
    with mailbox() as box:
        box.answers = {"gone@example.org": "550 no such user", "full@example.org": "452 full"}
        gone, full = (refusal(box.server(), to) for to in box.answers)
        send(box.server(), words("anna@example.org"), identity="m1")
    assert (gone.is_final, gone.for_all) == (True, False)
    assert "550 no such user" in str(gone)
    assert (full.is_final, full.for_all) == (False, False)
    assert [to for to, _ in box.envelopes] == ["anna@example.org"]


def test_a_domain_beyond_ascii_goes_to_a_server_that_takes_it() -> None:
    with mailbox(enable_SMTPUTF8=True) as box:
        send(box.server(), words("anna@jörg.example.org"), identity="m1")
        name = refusal(box.server(), "jörg@example.org")
    with mailbox(enable_SMTPUTF8=False) as other:
        domain = refusal(other.server(), "anna@jörg.example.org")
    assert [to for to, _ in box.envelopes] == ["anna@jörg.example.org"]
    assert name.is_final
    assert domain.is_final
    assert other.envelopes == []


@pytest.fixture
def tls(tmp_path, monkeypatch) -> ssl.SSLContext:
    path, context = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    return context


def test_by_tls_with_a_password(tls: ssl.SSLContext) -> None:
    more = {"authenticator": let_in, "auth_require_tls": False}  # of this TLS it knows nothing
    with mailbox(tls=tls, **more) as box:
        server = box.server(is_tls=True, user="fairpool", password=PASSWORD)
        send(server, words(), identity="m1")
        wrong = refusal(box.server(is_tls=True, user="fairpool", password="another"))
    assert box.signed_in == [True]
    assert wrong.for_all
    assert "does not let this user in" in str(wrong)
    assert "another" not in str(wrong)


def test_a_server_that_wants_tls_gets_it_before_the_password(tls: ssl.SSLContext) -> None:
    more = {"tls_context": tls, "require_starttls": True, "authenticator": let_in}
    with mailbox(**more, auth_required=True) as box:
        server = box.server(user="fairpool", password=PASSWORD)
        send(server, words(), identity="m1")
    assert box.signed_in == [True]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_server_with_a_certificate_of_somebody_else_gets_nothing(tmp_path, at_once) -> None:
    _, context = certificate(tmp_path, "localhost")
    more = {"tls": context} if at_once else {"tls_context": context, "require_starttls": True}
    with mailbox(**more) as box:
        refused = refusal(box.server(is_tls=at_once, user="fairpool", password=PASSWORD))
    assert "certificate" in str(refused)
    assert "is not trusted" in str(refused)
    assert (refused.is_final, refused.for_all) == (False, True)
    assert box.envelopes == []


def test_without_tls_nothing_goes_to_another_machine(monkeypatch) -> None:
    """The name is one of this machine's, which the service does not know as such."""
    name = socket.gethostname()
    monkeypatch.setattr(socket, "getaddrinfo", _leads_here(socket.getaddrinfo, name))
    with mailbox() as box:
        refused = refusal(box.server(host=name))
    assert "offers no TLS" in str(refused)
    assert refused.for_all
    assert box.envelopes == []


def _leads_here(real, name):
    return lambda host, *more, **named: real("127.0.0.1" if host == name else host, *more, **named)


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with mailbox() as box:
        refused = refusal(box.server(port=port))
    assert f"127.0.0.1:{port} cannot be used" in str(refused)
    assert (refused.is_final, refused.for_all) == (False, True)


def test_a_server_that_answers_a_byte_at_a_time_is_left() -> None:
    """Each byte comes in time; all of them never would."""
    ended = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                while not ended.wait(0.05):
                    connection.sendall(b"2")
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener, mailbox() as box:
        answering = threading.Thread(target=drip, args=(listener,))
        answering.start()
        began = time.monotonic()
        refused = refusal(box.server(port=listener.getsockname()[1], seconds=1.0))
        took = time.monotonic() - began
        ended.set()
        answering.join(30)
    assert refused.for_all
    assert 1.0 <= took < 30


def test_a_server_that_ends_in_the_middle_is_tried_again() -> None:
    def end(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        connection.sendall(b"220 hello\r\n")
        connection.recv(1000)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener, mailbox() as box:
        answering = threading.Thread(target=end, args=(listener,))
        answering.start()
        refused = refusal(box.server(port=listener.getsockname()[1]))
        answering.join(30)
    assert (refused.is_final, refused.for_all) == (False, True)
