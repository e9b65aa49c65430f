"""Collaborations with ranges, gaps, logarithms, dates and ids, from tables to predictions."""

import csv
import json
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.consortium.prediction import as_csv, predict_file
from tests.support.projects import (
    fairpool,
    finished_run,
    prepared,
    project,
    reward_file,
    round_folder,
    write,
    written_run,
)

LISTED = '{ kind = ["green", "red"] }'
ALL_RANGES = """
[columns.x]
range = [-6, 6]
[columns.z]
range = [0, 5]
[columns.y]
range = [0, 120]
"""


def farm(rows, seed, *, gaps=0.0):
    """A table with a positive label, a date, an identifier and values that may be missing."""
    rng = np.random.default_rng(seed)
    rain = rng.lognormal(6, 0.4, rows)
    day = rng.uniform(16436, 20088, rows)  # of ten years
    soil = rng.choice(["clay", "sand"], rows)
    season = np.cos(2 * np.pi * (day - 16436) / 365.25)
    crop = np.exp(1 + 0.5 * np.log(rain / 400) + 0.4 * season + 0.3 * (soil == "clay"))
    crop *= rng.lognormal(0, 0.05, rows)
    lacks = rng.random(rows) < gaps
    return pa.table(
        {
            "plot": [f"{seed}-{k:03d}" for k in range(rows)],
            "rain": pa.array(rain, mask=lacks),
            "day": pa.array(np.floor(day).astype("int32")).cast(pa.date32()),
            "soil": pa.array(soil, mask=rng.random(rows) < gaps),
            "crop": crop,
        }
    )


FARM = """
[columns.plot]
kind = "id"
[columns.rain]
transform = "log"
missing = "impute"
[columns.day]
kind = "date"
[columns.soil]
levels = ["clay", "sand"]
missing = "impute"
[columns.crop]
transform = "log"
"""


def farms(folder, sections=FARM, *, gaps=0.0, model='kind = "blr"', suffix=".csv"):
    project(folder, model=model, categorical="[]", suffix=suffix)
    for i in range(3):
        write(folder / f"p{i}{suffix}", farm(60, i, gaps=gaps))
    write(folder / f"test{suffix}", farm(40, 99))
    file = folder / "collaboration.toml"
    text = file.read_text().replace('target = "y"', 'target = "crop"')
    file.write_text(text + sections)
    return folder


def column_of(run, name):
    (column,) = [c for c in run.preparation.encoding.columns if c.name == name]
    return column


def with_day_numbers(table):
    """The same, with days since 1970 instead of dates."""
    place = table.column_names.index("day")
    return table.set_column(place, "day", table["day"].cast(pa.int32()))


# Ranges


def test_no_partys_rows_move_the_scaling_of_declared_ranges(tmp_path):
    first = project(tmp_path / "a", categorical=LISTED)
    second = project(tmp_path / "b", categorical=LISTED, sizes=(90, 25, 30))
    for folder in (first, second):
        with (folder / "collaboration.toml").open("a") as file:
            file.write(ALL_RANGES)
    assert prepared(first).encoding == prepared(second).encoding


def test_values_outside_are_clipped_counted_and_told(tmp_path):
    folder = project(tmp_path, categorical=LISTED)
    with (folder / "collaboration.toml").open("a") as file:
        file.write('[columns.z]\nrange = [1, 4]\noutside = "clip"\n')
        file.write('[columns.y]\nrange = [40, 70]\noutside = "clip"\n')
    run = written_run(folder)
    survey = run.preparation.parties[0]
    lines = [*csv.DictReader((folder / "p0.csv").read_text().splitlines())]
    beyond = sum(not 1 <= float(line["z"]) <= 4 for line in lines)
    labels = sum(not 40 <= float(line["y"]) <= 70 for line in lines)
    assert beyond > 0
    assert (survey.clipped["z"], survey.clipped["y"]) == (beyond, labels)
    notes = {note.text for note in run.notes if note.code == "clipped values"}
    told = f'{beyond} value(s) of "z" outside 1 .. 4 are taken to be its nearer end'
    assert f'party "Party 0": {told}' in notes
    own = (round_folder(folder) / "parties/Party-0/letter.html").read_text()
    assert f"done to your table: {told}".replace('"', "&#34;") in own
    assert "comes from ranges that the operator declared" in own
    other = (round_folder(folder) / "parties/Party-1/letter.html").read_text()
    assert told.replace('"', "&#34;") not in other


def test_a_far_value_cannot_ruin_a_declared_range(tmp_path):
    """Without a range it is refused: it would make everybody's values the same."""
    folder = project(tmp_path, categorical=LISTED)
    content = (folder / "p1.csv").read_text().splitlines()
    content[1] = "1e20," + content[1].split(",", 1)[1]
    (folder / "p1.csv").write_text("\n".join(content) + "\n")
    refused = fairpool("check", folder)
    assert "1e+20 is far from all others" in refused.stderr
    with (folder / "collaboration.toml").open("a") as file:
        file.write('[columns.x]\nrange = [-6, 6]\noutside = "clip"\n')
    assert fairpool("check", folder).returncode == 0


def test_declared_ranges_make_hiding_cheaper_and_are_proposed(tmp_path):
    """Made-up inputs then lie where data may be, of a model that has no inducing points."""
    without = project(tmp_path / "a", categorical=LISTED)
    run = finished_run(without, rho="fair")
    notes = [note.text for note in run.notes if note.code == "costly covariance"]
    assert notes
    assert all("or declare the range of every column" in text for text in notes)
    assert run.preparation.encoding.made_up() is None
    declared = project(tmp_path / "b", categorical=LISTED)
    with (declared / "collaboration.toml").open("a") as file:
        file.write(ALL_RANGES)
    run = finished_run(declared, rho="fair")
    made_up = run.preparation.encoding.made_up()
    assert made_up.shape == (1024, 4)
    np.testing.assert_allclose(made_up[:, :2].std(axis=0), 1, rtol=0.01)
    assert all("declare the range" not in note.text for note in run.notes)


# Missing values


def test_imputed_rows_are_complete_and_an_input_tells_which(tmp_path):
    run = finished_run(farms(tmp_path, gaps=0.2))
    assert run.collaboration.game.rows == (60, 60, 60)
    survey = run.preparation.parties[0]
    lacking = farm(60, 0, gaps=0.2)
    assert survey.imputed["rain"] == lacking["rain"].null_count > 0
    assert survey.imputed["soil"] == lacking["soil"].null_count > 0
    rain, soil = column_of(run, "rain"), column_of(run, "soil")
    assert rain.features == ("rain", "rain is missing")
    assert soil.features == ("soil=clay", "soil=sand", "soil is missing")
    assert 300 < rain.fill < 550
    present = np.concatenate(
        [farm(60, i, gaps=0.2)["rain"].drop_null().to_numpy() for i in range(3)]
    )
    assert rain.mean == pytest.approx(np.log(present).mean(), abs=0.1 * rain.scale)
    texts = [note.text for note in run.notes if note.code == "imputed values"]
    told = f'party "Party 0": {survey.imputed["rain"]} missing value(s) of "rain" are taken to be'
    assert any(text.startswith(told) for text in texts)


def test_without_gaps_there_is_no_such_input(tmp_path):
    assert column_of(finished_run(farms(tmp_path)), "rain").features == ("rain",)


def test_summing_up_and_sampling_see_the_same_imputed_rows(tmp_path):
    """An exact process keeps all rows, and a linear model sums them up."""
    run = finished_run(farms(tmp_path, gaps=0.2))
    game = run.collaboration.game
    model, encoding = game.model, run.preparation.encoding
    for i, party in enumerate(run.collaboration.game.pool.statistics):
        table = farm(60, i, gaps=0.2)
        X, y = encoding.encode(encoding.with_days(table)), encoding.encode_target(table)
        direct = model.summarise(fp.Party("p", X, y))
        np.testing.assert_allclose(party.told.precision, direct.gram / model.noise_variance)


def test_letters_tell_that_somebody_lacks_values(tmp_path):
    folder = farms(tmp_path, gaps=0.2)
    written_run(folder)
    letter = (round_folder(folder) / "parties/Party-1/letter.html").read_text()
    assert "It tells that somebody lacks values of" in letter


def test_values_that_stand_for_missing_ones(tmp_path):
    sections = FARM.replace('missing = "impute"', 'missing = { tokens = ["-1"], do = "impute" }', 1)
    folder = farms(tmp_path, sections)
    content = farm(60, 0)
    rain = content["rain"].to_pylist()
    rain[:7] = [-1.0] * 7
    write(folder / "p0.csv", content.set_column(1, "rain", pa.array(rain)))
    run = written_run(folder)
    assert run.preparation.parties[0].imputed["rain"] == 7
    reward = reward_file(folder, "Party-0")
    (tmp_path / "new.csv").write_text("rain,day,soil\n-1,2016-07-18,clay\n,2016-07-18,clay\n")
    first, second = predict_file(reward, tmp_path / "new.csv").rows
    assert first == second


def test_a_column_may_drop_and_another_impute(tmp_path):
    sections = FARM.replace('missing = "impute"', 'missing = "drop"', 1)
    run = finished_run(farms(tmp_path, sections, gaps=0.2))
    dropped = farm(60, 0, gaps=0.2)["rain"].null_count
    assert run.preparation.parties[0].dropped == dropped
    assert run.collaboration.game.rows[0] == 60 - dropped


def test_public_data_alone_say_what_is_imputed(tmp_path):
    folder = farms(tmp_path, gaps=0.2)
    write(folder / "public.csv", farm(80, 7))
    with (folder / "collaboration.toml").open("a") as file:
        file.write('[public]\ndata = "public.csv"\n')
    run = finished_run(folder)
    rain = column_of(run, "rain")
    assert rain.features == ("rain",)
    public = farm(80, 7)["rain"].to_numpy()
    assert np.abs(public - rain.fill).min() < 1e-9 * rain.fill
    (note, _) = [note.text for note in run.notes if note.code == "unmarked values"]
    assert "lack values, but public data lack none, so that no input tells the model" in note


# Logarithms and dates


def test_predictions_of_logarithms_come_back_in_units(tmp_path):
    folder = farms(tmp_path)
    run = written_run(folder)
    assert run.scores.everyone["rmse"] < 0.5
    reward = reward_file(folder, "Party-2")
    predicted = predict_file(reward, folder / "test.csv")
    assert predicted.names == ("plot", "crop_median", "crop_mean", "lower_95", "upper_95")
    values = np.array([row[1:] for row in predicted.rows])
    median, mean, lower, upper = values.T
    np.testing.assert_allclose(lower * upper, median**2)
    assert (mean > median).all()
    crop = farm(40, 99)["crop"].to_numpy()
    assert np.mean((lower < crop) & (crop < upper)) > 0.8
    letter = (round_folder(folder) / "parties/Party-2/letter.html").read_text()
    assert "the median and the mean of what crop may be" in letter


def test_scores_of_logarithms_are_those_of_the_log_normal(tmp_path):
    target = finished_run(farms(tmp_path)).preparation.encoding.target
    y, mean, variance = np.array([0.3, -1.0]), np.array([0.1, -0.5]), np.array([0.2, 0.4])
    from scipy.stats import lognorm

    mu, s2 = target.logarithms(mean, variance)
    in_units = np.exp(target.mean + target.scale * y)
    expected = -lognorm.logpdf(in_units, np.sqrt(s2), scale=np.exp(mu)).mean()
    assert target.score(y, mean, variance)["mnlp"] == pytest.approx(expected)
    decoded = target.decode(mean, variance)
    np.testing.assert_allclose(decoded[0], lognorm.mean(np.sqrt(s2), scale=np.exp(mu)))
    np.testing.assert_allclose(decoded[1], lognorm.var(np.sqrt(s2), scale=np.exp(mu)))


def test_a_season_is_learned_from_dates(tmp_path):
    """A line through days knows no season."""
    with_dates = finished_run(farms(tmp_path / "a"))
    as_number = farms(tmp_path / "b", FARM.replace('kind = "date"', 'kind = "number"'))
    for i, file in enumerate(("p0.csv", "p1.csv", "p2.csv")):
        write(as_number / file, with_day_numbers(farm(60, i)))
    write(as_number / "test.csv", with_day_numbers(farm(40, 99)))
    with_numbers = finished_run(as_number)
    assert with_dates.preparation.encoding.dates == ("day",)
    assert with_dates.scores.everyone["rmse"] < 0.5 * with_numbers.scores.everyone["rmse"]


@pytest.mark.parametrize("model", ['kind = "sparse_gp"\ninducing_points = 12', 'kind = "blr"'])
def test_runs_of_any_model_with_all_kinds_of_columns(tmp_path, model):
    folder = farms(tmp_path, gaps=0.1, model=model, suffix=".parquet")
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr


# Predictions of tables with anything in them


@pytest.fixture(scope="module")
def farm_reward(tmp_path_factory):
    """A reward of a farm, with nothing imputed."""
    folder = tmp_path_factory.mktemp("farm")
    sections = FARM.replace('missing = "impute"\n', "")
    sections = sections.replace('transform = "log"', 'transform = "log"\nrange = [50, 5000]', 1)
    farms(folder, sections)
    written_run(folder)
    return reward_file(folder, "Party-2")


ODD = """plot,rain,day,soil
007,400,2016-07-18,clay
b,,2016-07-18,clay
c,400,2016-07-18,loam
d,many,2016-07-18,clay
"=e",9000,,
f,inf,2016-07-18,sand
"""
REASONS = [
    "",
    "rain is missing",
    "soil: 'loam' is not among the levels that are known",
    "rain: 'many' is not a number",
    "rain: 9000 is outside 50 .. 5000; day is missing; soil is missing",
    "rain: inf is infinite or beyond 1e+100",
]


def test_a_row_without_a_prediction_has_a_reason(farm_reward, tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    out = tmp_path / "out.csv"
    done = fairpool("predict", farm_reward, "--data", tmp_path / "odd.csv", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "5 of 6 row(s) have no prediction; the column reason says why" in done.stderr
    rows = [*csv.DictReader(out.read_text().splitlines())]
    assert [*rows[0]] == ["plot", "crop_median", "crop_mean", "lower_95", "upper_95", "reason"]
    assert [row["reason"] for row in rows] == REASONS
    assert [row["plot"] for row in rows] == ["007", "b", "c", "d", "'=e", "f"]
    assert rows[0]["crop_median"]
    assert {row["crop_median"] for row in rows[1:]} == {""}
    as_json = fairpool("predict", farm_reward, "--data", tmp_path / "odd.csv", "--json")
    objects = json.loads(as_json.stdout)
    assert [row["reason"] for row in objects] == [reason or None for reason in REASONS]
    assert objects[1]["crop_median"] is None
    # The same row by itself, from a file without a fault.
    (tmp_path / "one.csv").write_text("\n".join(ODD.splitlines()[:2]) + "\n")
    (alone,) = predict_file(farm_reward, tmp_path / "one.csv").rows
    assert alone[1:] == [float(value) for value in list(rows[0].values())[1:-1]]


def test_a_table_without_a_row_to_predict(farm_reward, tmp_path):
    (tmp_path / "none.csv").write_text("rain,day,soil\n,2016-07-18,clay\n")
    predicted = predict_file(farm_reward, tmp_path / "none.csv")
    assert as_csv(predicted) == (
        "crop_median,crop_mean,lower_95,upper_95,reason\n,,,,rain is missing\n"
    )
    (tmp_path / "empty.csv").write_text("plot,rain,day,soil\n")
    predicted = predict_file(farm_reward, tmp_path / "empty.csv")
    assert predicted.names == ("plot", "crop_median", "crop_mean", "lower_95", "upper_95")
    assert predicted.rows == []


def test_an_id_need_not_be_there(farm_reward, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.csv").write_text("plot,rain,day,soil\na,400,2016-07-18,clay\n")
    (folder / "b.csv").write_text("rain,day,soil\n400,2016-07-18,clay\n")
    predicted = predict_file(farm_reward, folder)
    assert predicted.names[0] == "crop_median"
    first, second = predicted.rows
    assert first == second


def test_tables_in_python_are_refused_by_row(farm_reward):
    reward = fp.load_reward(farm_reward)
    columns = {"day": [date(2016, 7, 18)] * 2, "soil": ["clay", "sand"]}
    mean, _ = reward.predict_table(pa.table({"rain": [400.0, 500.0], **columns}))
    assert len(mean) == 2
    for days in ([17000.0] * 2, ["2016-07-18"] * 2, ["18 Jul 2016"] * 2):
        same = {"rain": [400.0, 500.0], **columns, "day": days}
        np.testing.assert_allclose(reward.predict_table(pa.table(same))[0], mean)
    with pytest.raises(ValueError, match=r"'1/2/2016' may have the day or the month first"):
        reward.predict_table(pa.table({"rain": [400.0], "soil": ["clay"], "day": ["1/2/2016"]}))
    with pytest.raises(ValueError, match=r'column "day", row 1 .*: \'soon\' is not a date'):
        reward.predict_table(
            pa.table({"rain": [4e2] * 2, "soil": ["clay"] * 2, "day": ["1 Jul 2016", "soon"]})
        )
    with pytest.raises(ValueError, match=r"row 1 .*: rain: 9 is outside 50 .. 5000; correct it"):
        reward.predict_table(pa.table({"rain": [400.0, 9.0], **columns}))
