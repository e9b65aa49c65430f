import pytest

from fairpool.errors import DataError, SecretError
from fairpool.server.settings import Settings

GIVEN = {
    "FAIRPOOL_SMTP": "smtps://fairpool@mail.example.org",
    "FAIRPOOL_SMTP_PASSWORD": "four words together",
    "FAIRPOOL_MAIL_FROM": "fairpool@example.org",
}


def settings(folder, **changed: str) -> Settings:
    return Settings.of(folder, environment=GIVEN | changed)


def test_without_a_server_no_mail_is_sent(tmp_path) -> None:
    assert Settings.of(tmp_path, environment={}).mail is None


def test_a_server_is_named_by_the_environment(tmp_path) -> None:
    file = tmp_path / "password"
    file.touch(mode=0o600)
    file.write_text("four words\n")
    more = {"FAIRPOOL_SMTP_PASSWORD": "", "FAIRPOOL_SMTP_PASSWORD_FILE": str(file)}
    mail = settings(tmp_path, FAIRPOOL_SMTP="smtp://a%40b@mail.example.org:25", **more).mail
    assert (mail.host, mail.port, mail.is_tls) == ("mail.example.org", 25, False)
    assert (mail.user, mail.password) == ("a@b", "four words")
    assert "four words" not in repr(mail)
    limits = settings(tmp_path, FAIRPOOL_MAIL_SECONDS="5", FAIRPOOL_MAILS_A_DAY="2").mail
    assert (limits.port, limits.window_seconds, limits.most_a_day) == (465, 5.0, 2)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"FAIRPOOL_SMTP": "mail.example.org"}, "no server for mail; give smtps://"),
        ({"FAIRPOOL_SMTP": "smtps://mail.example.org:99999"}, "no server for mail"),
        ({"FAIRPOOL_SMTP": "http://mail.example.org"}, "no server for mail"),
        ({"FAIRPOOL_SMTP": "smtps://a@mail.example.org/box"}, "no server for mail"),
        ({"FAIRPOOL_SMTP": "smtps://mail.example.org"}, "belong together"),
        ({"FAIRPOOL_SMTP_PASSWORD": ""}, "belong together"),
        ({"FAIRPOOL_SMTP_PASSWORD_FILE": "password"}, "give one of them"),
        ({"FAIRPOOL_MAIL_FROM": ""}, "FAIRPOOL_MAIL_FROM.*no e-mail address"),
        ({"FAIRPOOL_MAIL_FROM": "a@b.org\nBcc: c@d.org"}, "FAIRPOOL_MAIL_FROM.*no e-mail"),
        ({"FAIRPOOL_MAIL_FROM": "Pool <a@b.org>"}, "FAIRPOOL_MAIL_FROM.*no e-mail"),
        ({"FAIRPOOL_MAILS_A_DAY": "none"}, "FAIRPOOL_MAILS_A_DAY.*whole number"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, changed: dict[str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        settings(tmp_path, **changed)


def test_a_password_in_the_address_is_refused_and_not_repeated(tmp_path) -> None:
    with pytest.raises(DataError, match="a password stands in it") as refused:
        settings(tmp_path, FAIRPOOL_SMTP="smtps://fairpool:four-words@mail.example.org")
    assert "four-words" not in str(refused.value)


def test_a_file_with_the_password_is_for_its_owner_alone(tmp_path) -> None:
    file = tmp_path / "password"
    file.write_text("four words")
    file.chmod(0o644)
    more = {"FAIRPOOL_SMTP_PASSWORD": "", "FAIRPOOL_SMTP_PASSWORD_FILE": str(file)}
    with pytest.raises(SecretError, match="chmod 600") as refused:
        settings(tmp_path, **more)
    assert "the password for mail" in str(refused.value)
