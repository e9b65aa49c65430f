"""A network that is trained on everybody's labels needs consent, and nobody is told otherwise."""

import pytest

import fairpool as fp
from fairpool.errors import ConfigurationError
from tests.support.projects import (
    MODELS,
    fairpool,
    is_untouched,
    prepared,
    project,
    round_folder,
    table,
    write,
    written_run,
)

MODEL, AGREED = MODELS["network"]
PUBLIC = 'public = { data = "public.csv" }'


def test_it_is_refused_without_public_data_and_without_consent(tmp_path):
    folder = project(tmp_path, model=MODEL)
    with pytest.raises(ConfigurationError, match=r"without \[public\] data: it would be trained"):
        prepared(folder)
    assert fairpool("run", folder).returncode == 2
    assert is_untouched(folder)
    prepared(project(tmp_path, model=MODEL, rewards=AGREED))
    write(tmp_path / "public.csv", table(60, 8))
    prepared(project(tmp_path, model=MODEL, extra=PUBLIC))


def test_who_receives_nothing_of_the_others_is_told_what_the_network_saw(tmp_path):
    """Such a reward was once called one into which none of the others' data went."""
    folder = project(tmp_path / "agreed", model=MODEL, rewards=AGREED, sizes=(60, 15))
    written_run(folder, rho="rational")
    own = round_folder(folder) / "parties/Party-1"
    assert fp.load_reward(own / "reward.safetensors").tau == 0
    letter = (own / "letter.html").read_text()
    assert "Apart from what is said below, it is trained on your own rows alone." in letter
    assert "trained on all parties&#39; labels without noise" in letter
    said = fairpool("inspect", own / "reward.safetensors").stdout
    assert "beyond features and hyperparameters" in " ".join(said.split())
