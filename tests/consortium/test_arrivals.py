"""Contributions among the data of a configuration: found, or asked for."""

from tests.support.projects import fairpool
from tests.support.sums import NAMES, Case, numbers


def test_a_party_of_whom_nothing_came_is_asked_for_by_check_and_run(tmp_path):
    case = Case(folder=tmp_path, tables={name: numbers(120, 1) for name in NAMES})
    case.planned()
    case.sent = {name: {} for name in NAMES}
    case.configure(NAMES)
    path = tmp_path / "collaboration.toml"
    path.write_text(path.read_text().replace("data = []\n", ""))
    for command in ("check", "run"):
        done = fairpool(command, tmp_path)
        assert done.returncode == 2
        said = " ".join(done.stderr.split())
        for name in NAMES:
            assert f'party "{name}": nothing has come from it yet' in said


def test_tables_beside_contributions_of_one_party_are_refused(tmp_path):
    tables = {name: numbers(120, 1) for name in NAMES}
    case = Case(folder=tmp_path, tables=tables, by_sums=("North",))
    plan = case.planned()
    case.contribute("North", case.tables["North"], plan)
    case.sent["North"]["North.csv"] = None
    case.configure(("North",))
    done = fairpool("run", tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert 'party "North"' in done.stderr
