"""Rows of earlier rounds that come again, written otherwise: found, refused, or booked."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds import contributing
from fairpool.consortium.rounds.exchanging import exchange_secret
from fairpool.consortium.rounds.re_exports import Recognition
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.run import run
from fairpool.errors import DataError
from tests.support.copies import jittered, rounded
from tests.support.projects import fairpool, write

HEAD = 'name = "Test"\ntarget = "y"\ncategorical = ["kind"]\n'
MODEL = '[model]\nkind = "blr"\n[rewards]\nrho = 0.6\n'
NUMBERS = ["a", "b", "c", "d", "y"]
STOPPED = 'of party "Party 0" are rows of earlier rounds, written otherwise'


def table(rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)) * [1, 10, 3, 0.1] + [0, 100, 20, 0]
    kind = rng.choice(["Red", "Green", "Blue"], rows)
    y = 50 + 4 * X[:, 0] + X[:, 1] / 3 + 2 * (kind == "Red") + rng.normal(size=rows)
    columns = dict(zip("abcd", X.T, strict=True))
    return pa.table({**columns, "kind": kind, "y": y})


def configure(folder, *, head=HEAD, parties=None, learn=MODEL):
    sections = parties or ["", "", ""]
    text = head + learn
    for i, more in enumerate(sections):
        name = "" if "name =" in more else f'name = "Party {i}"\n'
        text += f'[[parties]]\n{name}data = "p{i}.csv"\n{more}\n'
    (folder / "collaboration.toml").write_text(text)


def next_round(folder, **asked):
    done = run(RunRequest(configuration=folder, **asked))
    release(done)
    return done


def began(folder, tables, **said):
    folder.mkdir(exist_ok=True)
    for i, content in enumerate(tables):
        write(folder / f"p{i}.csv", content)
    configure(folder, **said)
    next_round(folder)
    return folder


TABLES = [table(80, seed) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def first_round(tmp_path_factory):
    return began(tmp_path_factory.mktemp("rounds") / "project", TABLES)


@pytest.fixture
def folder(first_round, tmp_path):
    return shutil.copytree(first_round, tmp_path / "project")


def with_column(content, name, values):
    return content.set_column(content.column_names.index(name), name, pa.array(values))


def with_numbers(content, alter, names=NUMBERS):
    """A table whose numbers [m, c] were altered."""
    numbers = np.column_stack([content[name].to_numpy() for name in names])
    for name, column in zip(names, alter(numbers).T, strict=True):
        content = with_column(content, name, column)
    return content


def jitter(size):
    return lambda content: with_numbers(
        content, lambda rows: jittered(rows, size, np.random.default_rng(5))
    )


def digits(count, names=NUMBERS):
    return lambda content: with_numbers(content, lambda rows: rounded(rows, count), names)


def converted(content):
    return with_column(content, "b", 1.8 * content["b"].to_numpy() + 32)


def respelled(content):
    german = {"Red": "rot", "Green": "grün", "Blue": "blau"}
    return with_column(content, "kind", [german[kind] for kind in content["kind"].to_pylist()])


UP_TO = "they agree up to rounding or jitter"
ALTERED = {
    "2 digits": (digits(2), UP_TO),
    "3 digits": (digits(3), "they agree"),
    "4 digits": (digits(4), "they agree"),
    "6 digits": (digits(6), UP_TO),
    "jitter 1e-6": (jitter(1e-6), UP_TO),
    "jitter 1e-3": (jitter(1e-3), UP_TO),
    "jitter 1e-2": (jitter(1e-2), UP_TO),
    "a shifted column": (
        lambda content: with_column(content, "c", content["c"].to_numpy() + 0.5),
        'they agree in all columns but "c"',
    ),
    "a converted column": (converted, 'they agree in all columns but "b"'),
    "rounded labels": (digits(3, ["y"]), "they agree"),
    "labels of another unit": (
        lambda content: with_column(content, "y", 2 * content["y"].to_numpy() + 7),
        'they agree in all columns but "y"',
    ),
    "another case": (
        lambda content: with_column(content, "kind", pc.utf8_upper(content["kind"])),
        "they agree in all columns, but perhaps for case and blanks of texts",
    ),
    "other levels": (respelled, 'they agree in all columns but "kind"'),
    "other levels and digits": (
        lambda content: digits(5)(respelled(content)),
        "they agree",
    ),
}


@pytest.mark.parametrize("what", ALTERED)
def test_a_re_export_is_found_and_stopped(folder, what):
    alter, words = ALTERED[what]
    write(folder / "p0.csv", alter(TABLES[0]))
    with pytest.raises(DataError, match=STOPPED) as stopped:
        run(RunRequest(configuration=folder))
    text = str(stopped.value)
    assert text.startswith(f"{folder / 'p0.csv'}, line ")
    assert words in text
    assert "new row(s)" in text
    assert "two noises on one label average out" in text
    assert "Send these rows as they were sent before" in text
    assert "[[parties]] second_look = 2" in text


def test_the_example_is_a_row_that_comes_again(folder):
    fresh = table(20, 10)
    again = digits(4)(TABLES[0].slice(30, 20))
    write(folder / "p0.csv", pa.concat_tables([TABLES[0].slice(0, 30), fresh, again]))
    match = rf"p0.csv, line 52: this and 19 other new row\(s\) {STOPPED}"
    with pytest.raises(DataError, match=match):
        run(RunRequest(configuration=folder))


def test_the_old_file_and_its_re_export_together_are_stopped(folder):
    write(folder / "p0.csv", pa.concat_tables([TABLES[0], digits(4)(TABLES[0])]))
    with pytest.raises(DataError, match=STOPPED):
        run(RunRequest(configuration=folder))


def test_a_file_that_is_sent_twice_is_stopped(folder):
    write(folder / "p0.csv", pa.concat_tables([TABLES[0], TABLES[0]]))
    with pytest.raises(DataError, match="they agree in all columns, but perhaps"):
        run(RunRequest(configuration=folder))


def test_several_parties_are_named_at_once(folder):
    for i in range(2):
        write(folder / f"p{i}.csv", digits(4)(TABLES[i]))
    with pytest.raises(DataError, match="Party 0") as stopped:
        run(RunRequest(configuration=folder))
    first, second = stopped.value.problems
    assert '"Party 0" are rows' in first
    assert '"Party 1" are rows' in second


def test_the_command_stops_and_releases_nothing(folder):
    write(folder / "p0.csv", digits(4)(TABLES[0]))
    before = (folder / "ledger.jsonl").read_bytes()
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert "rows of earlier rounds, written otherwise" in " ".join(done.stderr.split())
    assert (folder / "ledger.jsonl").read_bytes() == before
    assert not (folder / "rounds/0002").exists()


def test_rows_that_were_withdrawn_are_still_known(folder):
    write(folder / "p0.csv", pa.concat_tables([TABLES[0].slice(40), table(40, 11)]))
    next_round(folder)
    again = digits(4)(TABLES[0].slice(0, 40))
    write(folder / "p0.csv", pa.concat_tables([TABLES[0].slice(40), table(40, 11), again]))
    with pytest.raises(DataError, match=r"this and 39 other new row\(s\)"):
        run(RunRequest(configuration=folder))


def test_rows_are_recognised_after_the_model_was_learned_anew(folder):
    more = table(40, 12)
    write(folder / "p0.csv", pa.concat_tables([TABLES[0], more]))
    next_round(folder, learn_anew=True)
    for known in (TABLES[0], more):
        write(folder / "p0.csv", digits(4)(known))
        for anew in (False, True):
            with pytest.raises(DataError, match=STOPPED):
                run(RunRequest(configuration=folder, learn_anew=anew))


def test_a_party_that_is_renamed_is_recognised(folder):
    configure(folder, parties=['name = "Clinic"', "", ""])
    match = (
        'of party "Clinic" are rows of "Party 0", which takes part no longer.*'
        r'If it is the same party, say so: \[\[parties\]\] id = "Party 0"'
    )
    with pytest.raises(DataError, match=match):
        run(RunRequest(configuration=folder))
    configure(folder, parties=['name = "Clinic"\nid = "Party 0"', "", ""])
    run(RunRequest(configuration=folder))


@pytest.mark.parametrize("is_lost", [False, True])
def test_rows_are_recognised_with_another_secret(folder, is_lost):
    if is_lost:
        (folder / ".fairpool/secret.key").unlink()
    exchange_secret(folder, is_lost=is_lost)
    exchanged = 'of party "Party 0" were released under a secret that was exchanged since'
    with pytest.raises(DataError, match=exchanged) as stopped:
        run(RunRequest(configuration=folder))
    assert len(stopped.value.problems) == 3
    configure(folder, parties=["second_look = 2"] * 3)
    done = next_round(folder)
    assert [one.recognition.second_looks for one in done.contributions] == [80, 80, 80]


# What is no re-export.


def test_labels_that_were_measured_again_are_new(folder):
    labels = TABLES[0]["y"].to_numpy() + np.random.default_rng(4).normal(0, 2, 80)
    write(folder / "p0.csv", pa.concat_tables([TABLES[0], with_column(TABLES[0], "y", labels)]))
    done = run(RunRequest(configuration=folder))
    assert not done.contributions[0].recognition.notes
    assert len(done.contributions[0].data) == 160


def whole_numbers(rows, seed):
    """Few values, so that rows agree by chance, and some wholly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (rows, 4)).astype(float)
    kind = rng.choice(["Red", "Green"], rows)
    y = X.sum(axis=1) + rng.integers(0, 3, rows)
    return pa.table({**dict(zip("abcd", X.T, strict=True)), "kind": kind, "y": y})


def test_honest_growth_over_a_year_is_never_stopped(tmp_path):
    make = [table, whole_numbers]
    tables = [make[i](40, i) for i in range(2)]
    folder = began(tmp_path / "year", tables, parties=["", ""])
    for month in range(2, 13):
        for i in range(2):
            tables[i] = pa.concat_tables([tables[i], make[i](40, 100 * month + i)])
            write(folder / f"p{i}.csv", tables[i])
        done = next_round(folder)
        assert not any(one.recognition.second_looks for one in done.contributions)
        assert not [note for note in done.notes if "look" in note.code]
    assert [len(one.data) for one in done.contributions] == [480, 480]


# Columns that name a row.

WITH_IDS = HEAD + '[columns.patient]\nkind = "id"\n'


def named(content, first=0):
    names = [f"P{first + number}" for number in range(content.num_rows)]
    return content.append_column("patient", pa.array(names))


@pytest.fixture(scope="module")
def first_round_with_ids(tmp_path_factory):
    tables = [named(content) for content in TABLES]
    return began(tmp_path_factory.mktemp("ids") / "project", tables, head=WITH_IDS)


@pytest.fixture
def with_ids(first_round_with_ids, tmp_path):
    return shutil.copytree(first_round_with_ids, tmp_path / "project")


def test_rows_with_ids_may_have_other_digits(with_ids):
    inputs = ["a", "b", "c", "d"]
    write(with_ids / "p0.csv", named(digits(3, inputs)(TABLES[0])))
    done = run(RunRequest(configuration=with_ids))
    # In every sum they are other rows, but the noise on their labels is that of the first round.
    assert done.contributions[0].assignment.new
    assert not done.contributions[0].recognition.second_looks


def test_labels_in_other_digits_for_known_ids_are_stopped(with_ids):
    for count in (2, 4):
        write(with_ids / "p0.csv", named(digits(count, ["y"])(TABLES[0])))
        match = "their ids are known, and their labels are the same but for rounding"
        with pytest.raises(DataError, match=match):
            run(RunRequest(configuration=with_ids))


def test_rows_with_ids_that_are_sent_twice_are_stopped(with_ids):
    write(with_ids / "p0.csv", pa.concat_tables([named(TABLES[0])] * 2))
    with pytest.raises(DataError, match="their ids are known"):
        run(RunRequest(configuration=with_ids))


def test_labels_that_a_rule_makes_of_the_old_ones_for_known_ids_are_stopped(with_ids):
    labels = TABLES[0]["y"].to_numpy().copy()
    labels[:20] = 0.8 * labels[:20] + 1.5
    write(with_ids / "p0.csv", named(with_column(TABLES[0], "y", labels)))
    match = "their labels are the earlier ones, shifted and rescaled"
    with pytest.raises(DataError, match=match):
        run(RunRequest(configuration=with_ids))


def test_corrected_labels_for_known_ids_are_allowed(with_ids):
    labels = TABLES[0]["y"].to_numpy().copy()
    labels[:3] += 0.01  # few, by little
    labels[3:30] += np.random.default_rng(1).normal(0, 5, 27)  # many, by much
    write(with_ids / "p0.csv", named(with_column(TABLES[0], "y", labels)))
    done = run(RunRequest(configuration=with_ids))
    assert done.contributions[0].recognition.second_looks == 0


def test_known_rows_under_new_ids_are_stopped(with_ids):
    write(with_ids / "p0.csv", named(TABLES[0], first=1000))
    with pytest.raises(DataError, match=STOPPED):
        run(RunRequest(configuration=with_ids))


# Columns that rows are known by.


def test_a_new_column_to_know_rows_by_is_refused(folder):
    for i, content in enumerate(TABLES):
        write(folder / f"p{i}.csv", content.append_column("e", pa.array(np.arange(80.0))))
    match = 'party "Party 0": its rows were known by .* so far, and would now be known by .*e, y'
    with pytest.raises(DataError, match=match):
        run(RunRequest(configuration=folder, learn_anew=True))


def test_ids_that_are_declared_later_are_refused(folder):
    for i, content in enumerate(TABLES):
        write(folder / f"p{i}.csv", named(content))
    configure(folder, head=WITH_IDS)
    match = r"would now be known by patient, y; all of them would get new noise"
    with pytest.raises(DataError, match=match):
        run(RunRequest(configuration=folder, learn_anew=True))


# A second look on purpose.


def test_a_second_look_is_booked_in_the_ledger(folder):
    write(folder / "p0.csv", digits(4)(TABLES[0]))
    configure(folder, parties=["second_look = 2", "", ""])
    before = run(RunRequest(configuration=folder))
    assert before.contributions[0].recognition.second_looks == 80
    release(before)
    [note] = [note for note in before.notes if note.code == "second look"]
    assert note.party == "Party 0"
    assert "80 row(s)" in note.text
    assert "both looks count" in note.text
    records = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    bodies = [record["body"] for record in records if record["kind"] == "release"]
    assert [body["second_looks"] for body in bodies] == [{}, {"Party 0": 80}]
    # It is booked for that round alone.
    write(folder / "p0.csv", digits(3)(TABLES[0]))
    with pytest.raises(DataError, match="second_look = 3"):
        run(RunRequest(configuration=folder))


def test_a_second_look_that_is_none_is_said(folder):
    configure(folder, parties=["second_look = 2", "", ""])
    write(folder / "p0.csv", pa.concat_tables([TABLES[0], table(40, 30)]))
    done = run(RunRequest(configuration=folder))
    assert [note.code for note in done.notes if "look" in note.code] == ["no second look"]


def test_both_looks_count_in_what_is_held(folder):
    first = run(RunRequest(configuration=folder))
    held = [result.holds for result in first.collaboration.received]
    write(folder / "p0.csv", digits(5)(TABLES[0]))
    configure(folder, parties=["second_look = 2", "", ""])
    second = run(RunRequest(configuration=folder))
    for i in (1, 2):
        assert second.collaboration.received[i].held_before == pytest.approx(held[i], rel=1e-6)
    # With a larger reward, the second look has more noise than if it were the only one.
    more = run(RunRequest(configuration=folder, rho=0.3))
    received = more.collaboration.received
    shutil.rmtree(folder / ".fairpool")
    shutil.rmtree(folder / "rounds")
    (folder / "ledger.jsonl").unlink()
    alone = run(RunRequest(configuration=folder, rho=0.3))
    sent = [i for i in (1, 2) if received[i].sent]
    assert sent
    for i in sent:
        looks = [received[i].etas[name] for name in more.contributions[0].parts]
        assert received[i].holds == pytest.approx(received[i].due, rel=1e-6)
        assert min(looks) > 1.2 * alone.collaboration.models[i].eta


def test_two_looks_counted_as_two_rows_are_never_less_than_what_they_tell():
    """Two noises on one label: 1/eta adds. Counted as two labels, the noise of the label does too.

    What is held is then overstated, and so recipients get less that is new, never more.
    """
    rng = np.random.default_rng(0)
    for _ in range(200):
        s2, first, second = 10.0 ** rng.uniform(-3, 3, 3)
        together = 1 / (s2 + 1 / (1 / first + 1 / second))
        covariance = s2 + np.diag([first, second])
        assert together == pytest.approx(np.ones(2) @ np.linalg.solve(covariance, np.ones(2)))
        assert 1 / (s2 + first) + 1 / (s2 + second) >= together


# The attack.


def predicted(done, i):
    X = np.random.default_rng(0).normal(size=(200, 7))
    return done.collaboration.models[i].posterior.predict(X)[0]


def averaged_error(folder, rounds):
    """How far predictions are from those without noise: of one file, and of all files' mean."""
    free = predicted(run(RunRequest(configuration=folder, rho=0.0, learn_anew=True)), 2)
    files = []
    for number in range(rounds):
        for i in range(2):
            write(folder / f"p{i}.csv", jitter(1e-6 * (number + 1))(TABLES[i]))
        files.append(predicted(next_round(folder, learn_anew=True), 2))
    single = np.mean([np.sqrt(np.mean((file - free) ** 2)) for file in files])
    return single, np.sqrt(np.mean((np.mean(files, axis=0) - free) ** 2))


def test_attack_noise_averages_out_where_re_exports_are_not_looked_for(folder, monkeypatch):
    """The model is learned anew, so that nothing is known of how much the old rows told of it."""
    with pytest.raises(DataError, match=STOPPED):
        averaged_error(shutil.copytree(folder, folder.parent / "guarded"), 1)
    monkeypatch.setattr(contributing, "recognise", lambda *_, **__: Recognition())
    single, averaged = averaged_error(folder, 6)
    # 1 / sqrt(6) = 0.41 is expected, and 1 of noise that stays; the secret is another every time.
    assert averaged < 0.8 * single


# What is kept.


def test_sketches_are_kept_for_this_user_alone_and_are_sealed(folder):
    kept = sorted((folder / ".fairpool/kept").glob("*.sketch"))
    assert kept
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    write(folder / "p0.csv", pa.concat_tables([TABLES[0], table(40, 30)]))
    content = bytearray(kept[0].read_bytes())
    content[-1] ^= 1
    for path in kept:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"\.sketch: not as it was written"):
        run(RunRequest(configuration=folder))


def test_that_rows_cannot_be_compared_is_said(folder):
    for path in (folder / ".fairpool/kept").glob("*.sketch"):
        path.unlink()
    write(folder / "p0.csv", digits(4)(TABLES[0]))
    done = run(RunRequest(configuration=folder))
    [note] = [note for note in done.notes if note.code == "rows not compared"]
    assert note.party == "Party 0"
    assert '80 row(s) of "Party 0" of earlier rounds cannot be compared' in note.text
