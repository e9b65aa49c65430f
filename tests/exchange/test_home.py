"""A person's own folder: where it is."""

from fairpool.exchange.home import home_folder


def test_the_environment_may_name_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRPOOL_HOME", str(tmp_path / "mine"))
    assert home_folder() == tmp_path / "mine"


def test_otherwise_it_is_where_the_system_keeps_such_things(monkeypatch):
    monkeypatch.delenv("FAIRPOOL_HOME", raising=False)
    assert home_folder().name == "fairpool"
    assert home_folder().is_absolute()
