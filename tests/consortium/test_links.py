"""Links in the folders of parties: none makes somebody else's file a party's own."""

import json
import shutil

import pytest

from fairpool.consortium.tables import Source
from fairpool.errors import DataError
from tests.support.projects import (
    fairpool,
    is_untouched,
    prepared,
    project,
    reward_file,
    table,
    write,
)


def project_of_folders(folder):
    """Two parties, each with a folder of its own, and a secret of the operator's elsewhere."""
    project(folder, sizes=(40, 30))
    text = (folder / "collaboration.toml").read_text()
    for number in range(2):
        (folder / f"from_{number}").mkdir()
        shutil.move(folder / f"p{number}.csv", folder / f"from_{number}" / "a.csv")
        text = text.replace(f'"p{number}.csv"', f'"from_{number}"')
    (folder / "collaboration.toml").write_text(text)
    write(folder.parent / "secret" / "patients.csv", table(50, 7))
    return folder


def check_that_it_is_refused(folder, *texts):
    for command in ("check", "run"):
        done = fairpool(command, folder, "--json")
        assert done.returncode == 2
        errors = json.loads(done.stdout)["errors"]
        assert len(errors) == 1
        for text in texts:
            assert text in errors[0]
    assert is_untouched(folder)


def test_a_link_out_of_the_projects_folder_is_refused(tmp_path):
    folder = project_of_folders(tmp_path / "p")
    (folder / "from_0" / "b.csv").symlink_to(tmp_path / "secret" / "patients.csv")
    check_that_it_is_refused(
        folder,
        'party "Party 0": ',
        "from_0/b.csv is a link, or lies behind one, to ",
        "secret/patients.csv, which is outside of ",
        "; put the file itself there, or name that path in the configuration",
    )


def test_a_linked_folder_is_refused_as_its_files_are(tmp_path):
    folder = project_of_folders(tmp_path / "p")
    shutil.rmtree(folder / "from_0")
    (folder / "from_0").symlink_to(tmp_path / "secret")
    check_that_it_is_refused(folder, "lies behind one, to ", "secret/patients.csv")


def test_a_link_to_another_partys_file_is_refused(tmp_path):
    """The party would be rewarded for data that it has never seen."""
    folder = project_of_folders(tmp_path / "p")
    (folder / "from_1" / "b.csv").symlink_to("../from_0/a.csv")
    check_that_it_is_refused(
        folder, 'party "Party 1": ', "from_1/b.csv is, by a link, the same file as ", "from_0/a.csv"
    )


def test_a_link_within_a_partys_own_folder_is_followed(tmp_path):
    folder = project_of_folders(tmp_path / "p")
    (folder / "from_0" / "versions").mkdir()
    shutil.move(folder / "from_0" / "a.csv", folder / "from_0" / "versions" / "1.csv")
    (folder / "from_0" / "a.csv").symlink_to("versions/1.csv")
    assert [party.rows for party in prepared(folder).parties] == [40, 30]


def test_a_project_that_is_itself_behind_a_link_is_no_link_out(tmp_path):
    folder = project_of_folders(tmp_path / "p")
    (tmp_path / "shortcut").symlink_to(folder)
    assert [party.rows for party in prepared(tmp_path / "shortcut").parties] == [40, 30]


@pytest.mark.parametrize("pattern", ["{}/secret/patients.csv", "{}/secret", "{}/s*t/*.csv"])
@pytest.mark.parametrize("base", ["..", "absolute"])
def test_what_the_configuration_names_elsewhere_is_used_but_no_link_out_of_it(
    tmp_path, pattern, base
):
    folder = project_of_folders(tmp_path / "p")
    path = pattern.format(".." if base == ".." else tmp_path)
    assert len(Source.find("x", path, folder).files) == 1
    shutil.move(tmp_path / "secret" / "patients.csv", tmp_path / "patients.csv")
    (tmp_path / "elsewhere").mkdir()
    shutil.move(tmp_path / "patients.csv", tmp_path / "elsewhere" / "patients.csv")
    (tmp_path / "secret" / "patients.csv").symlink_to("../elsewhere/patients.csv")
    if "*" in pattern:  # of a pattern, the folder before its first star
        assert len(Source.find("x", path, folder).files) == 1
        return
    with pytest.raises(DataError, match=r"elsewhere/patients\.csv, which is outside of .*secret;"):
        Source.find("x", path, folder)


def test_a_party_that_predicts_may_link_to_its_data(tmp_path):
    folder = project_of_folders(tmp_path / "p")
    (folder / "link.csv").symlink_to(tmp_path / "secret" / "patients.csv")
    assert fairpool("run", folder, "--quiet").returncode == 0
    reward = reward_file(folder, "Party-0")
    done = fairpool("predict", reward, "--data", "link.csv", cwd=folder)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 51)


def test_brackets_in_the_name_of_the_projects_folder_mean_themselves(tmp_path):
    folder = project_of_folders(tmp_path / "p[1]")
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace('"from_0"', '"from_0/*.csv"'))
    assert [party.rows for party in prepared(folder).parties] == [40, 30]
