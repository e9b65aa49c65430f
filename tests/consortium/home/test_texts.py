"""Texts at home: the party's own copy of the encoder, known by its hash, makes numbers of them."""

import numpy as np
import pyarrow as pa
import pytest

from fairpool.consortium.home.contributing import contribute_table
from fairpool.consortium.home.own_table import OWNER
from fairpool.consortium.planning.plan import plan_of
from fairpool.consortium.tables import Source
from fairpool.encoders import read_folder
from fairpool.errors import EncoderError
from tests.support.encoders import notes, static_encoder
from tests.support.exchange import KEYS, signed_plan
from tests.support.home import a_home
from tests.support.planned import planned_project
from tests.support.projects import write

COLUMNS = (
    "[columns.x]\nrange = [-9, 9]\n[columns.y]\nrange = [0, 99]\n"
    '[columns.note]\nkind = "text"\nencoder = "encoders/mini"\nencoder_sha256 = "{pin}"\n'
)


def test_texts_become_numbers_by_the_encoder_of_the_plan(tmp_path):
    project = tmp_path / "project"
    made = static_encoder(project / "encoders" / "mini")
    columns = COLUMNS.format(pin=read_folder(made).sha256)
    settings = {"columns": columns, "features": '["x", "note"]', "model": 'kind = "blr"\n'}
    plan = signed_plan(plan_of(planned_project(project, **settings), made="2020-01-01T00:00:00Z"))
    rows = notes(150, 0)
    write(tmp_path / "mine.csv", rows)
    source = Source(OWNER, (tmp_path / "mine.csv",))

    def contribute(encoders):
        home = a_home(tmp_path / "home")
        return contribute_table(plan, source, key=KEYS["North"], home=home, encoders=encoders)

    sums = contribute(project / "encoders").file.arrays
    encoding = plan.plan.encoding.with_encoders(made)
    features = plan.plan.model.whitened_features(encoding.encode(pa.table(rows)))
    np.testing.assert_allclose(sums["gram"], features.T @ features, rtol=1e-9, atol=1e-9)
    static_encoder(tmp_path / "other" / "mini", seed=1)
    with pytest.raises(EncoderError, match="is needed; give --encoders"):
        contribute(None)
    with pytest.raises(EncoderError, match="another encoder is there"):
        contribute(tmp_path / "other")
