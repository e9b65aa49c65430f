"""Rounds of parties who send sums: increments, replacements, waiting, leaving and coming back."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import fairpool as fp
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.rounds.sums import coordinate_noise
from fairpool.consortium.run import run
from fairpool.errors import ContributionError, DataError, PlanError
from fairpool.keyed_noise.paths import Paths
from fairpool.parties import PartySummary
from tests.consortium.rounds.test_sums import figures
from tests.support.projects import fairpool, known_secret, write
from tests.support.sums import NAMES, Case, numbers

EXACT = 1e-9
KINDS = ["blr", "sparse_gp"]


def case_in(folder, kind="blr", by_sums=NAMES, **more):
    tables = {name: numbers(150, seed, 0.4 * seed) for seed, name in enumerate(NAMES)}
    return Case(folder=folder, tables=tables, kind=kind, by_sums=by_sums, rho=0.5, **more)


def etas(done):
    """At which noise variances every party received others' data; rows are many parts."""
    return [
        sorted({float(f"{eta:.9g}") for eta in received.etas.values()})
        for received in done.collaboration.received
    ]


def worth(told):
    """1/2 log|I + sum of G / noise|, of Gram matrices and noise variances."""
    d = len(told[0][0])
    precision = np.eye(d) + sum(gram / noise for gram, noise in told)
    return np.linalg.slogdet(precision)[1] / 2


@pytest.mark.parametrize("kind", KINDS)
def test_an_increment_counts_like_rows_that_were_added(kind, tmp_path):
    more = numbers(130, 7)
    by_rows = case_in(tmp_path / "rows", kind, by_sums=())
    by_sums = case_in(tmp_path / "sums", kind)
    plan = by_sums.planned()
    by_rows.next_round()
    by_sums.next_round()
    by_rows.tables["North"] = pa.concat_tables([by_rows.tables["North"], more])
    (first,) = by_sums.sent["North"].values()
    by_rows.rho = by_sums.rho = 0.1  # so that everybody is due more than it holds
    by_sums.contribute("North", more, plan, earlier=(first.digest,))
    expected, found = by_rows.next_round(), by_sums.next_round()
    for what, figure in figures(expected).items():
        np.testing.assert_allclose(
            figures(found)[what], figure, rtol=EXACT, atol=EXACT, err_msg=what
        )
    for one, other in zip(etas(found), etas(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    assert max(len(of_party) for of_party in etas(found)) == 2  # old noise and new
    holds = [received.holds for received in found.collaboration.received]
    due = [received.due for received in found.collaboration.received]
    np.testing.assert_allclose(holds, due, rtol=0, atol=EXACT)


def test_the_same_contributions_again_send_nothing_new(tmp_path):
    case = case_in(tmp_path)
    first = case.next_round()
    again = case.next_round()
    assert not [note for note in again.notes if note.code == "row numbers"]
    assert [received.sent for received in first.collaboration.received] == [True] * 3
    assert [received.sent for received in again.collaboration.received] == [False] * 3


def test_few_rows_more_wait(tmp_path):
    case = case_in(tmp_path)
    plan = case.planned()
    case.next_round()
    (first,) = case.sent["North"].values()
    few = numbers(4, 7)
    case.contribute("North", few, plan, earlier=(first.digest,), rows_may_be_seen=True)
    done = case.next_round()
    assert len(done.contributions[0].data) == 150
    (note,) = [note for note in done.notes if note.code == "rows wait"]
    assert '4 row(s) of "North" wait' in note.text


def test_a_contribution_that_does_not_know_of_a_released_one_is_refused(tmp_path):
    case = case_in(tmp_path)
    plan = case.planned()
    case.next_round()
    case.sent["North"] = {}
    case.contribute("North", case.tables["North"], plan, made="2020-02-02T00:00:00Z")
    with pytest.raises(ContributionError, match="without knowing of contribution"):
        case.next_round()


def replaced(case, plan):
    """North corrects its table, and sends sums in place of the released ones."""
    (first,) = case.sent["North"].values()
    case.sent["North"] = {}
    case.contribute("North", numbers(160, 8), plan, replaces=(first.digest,))


def test_a_replacement_is_refused_unless_a_second_look_was_booked(tmp_path):
    case = case_in(tmp_path)
    plan = case.planned()
    first = case.next_round()
    replaced(case, plan)
    case.rho = 0.1
    with pytest.raises(ContributionError, match="second_look = 2"):
        case.next_round()
    case.terms["North"] = "second_look = 2"
    done = case.next_round()
    assert [note.code for note in done.notes if note.party == "North"].count("second look") == 1
    assert case.releases()[-1]["second_looks"] == {"North": 150}
    # Both looks count: what South holds of North's old data is still there.
    s2 = done.built.model.noise_variance
    before = first.collaboration.received[1].etas[first.contributions[0].assignment.part_names[0]]
    now = done.collaboration.received[1].etas
    grams = [one.data.gram for one in done.contributions]
    (north,), (west,) = (done.contributions[i].assignment.part_names for i in (0, 2))
    told = [(grams[0], s2 + now[north]), (grams[1], s2), (grams[2], s2 + now[west])]
    told.append((first.contributions[0].data.gram, s2 + before))
    np.testing.assert_allclose(
        done.collaboration.received[1].holds, worth(told), rtol=0, atol=EXACT
    )


def test_a_party_that_sent_rows_before_needs_a_second_look_to_send_sums(tmp_path):
    case = case_in(tmp_path, by_sums=("South", "West"))
    case.planned()
    case.next_round()
    case.by_sums = NAMES
    with pytest.raises(DataError, match="second_look = 2"):
        case.next_round()
    case.terms["North"] = "second_look = 2"
    assert len(case.next_round().contributions[0].data) == 150


def test_who_leaves_and_comes_back_has_the_noise_that_it_had(tmp_path):
    case = case_in(tmp_path)
    case.planned()
    first = case.next_round()
    west = case.tables.pop("West"), case.sent.pop("West")
    case.by_sums = NAMES[:2]
    without = case.next_round()
    assert without.collaboration.game.names == NAMES[:2]
    case.tables["West"], case.sent["West"] = west
    case.by_sums = NAMES
    back = case.next_round()
    assert not any(received.sent for received in back.collaboration.received)
    assert back.contributions[2].assignment.part_names == (
        first.contributions[2].assignment.part_names
    )


def test_noise_on_sums_is_one_path_for_their_life():
    """Whatever else is asked for, and normal in the covariance of noise on labels."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(900, 300))
    model = fp.BayesianLinearRegression(0.5)
    party = fp.Party("A", A[:, :-1], A[:, -1])
    data = model.summarise(party)
    assert isinstance(data, PartySummary)
    paths, scale = Paths(known_secret()), 3.0
    late, early = coordinate_noise("part", data, [0.5, 2.0], paths=paths, scale=scale)
    (alone,) = coordinate_noise("part", data, [2.0], paths=paths, scale=scale)
    assert np.array_equal(early, alone)
    (other,) = coordinate_noise("another part", data, [2.0], paths=paths, scale=scale)
    assert abs(np.corrcoef(early, other)[0, 1]) < 0.25
    # W(0.5) and W(2) - W(0.5) are independent, of variances 0.5 and 1.5.
    independent = late / np.sqrt(0.5), (early - late) / np.sqrt(1.5)
    assert abs(np.corrcoef(*independent)[0, 1]) < 0.25
    for noise in independent:
        assert stats.kstest(noise, "norm").pvalue > 0.001
    # On the moment it is noise of covariance eta G.
    whitened = np.linalg.solve(np.linalg.cholesky(data.gram), data.disturbance(early))
    assert stats.kstest(whitened / np.sqrt(2.0), "norm").pvalue > 0.001


def test_rows_in_sums_are_not_withdrawn_one_by_one(tmp_path):
    case = case_in(tmp_path)
    case.planned()
    case.next_round()
    done = fairpool("erase", tmp_path, "--party", "North", "--withdrawn")
    assert done.returncode == 2
    assert "its rows came as sums" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_same_sums_again_are_refused_in_a_later_round(tmp_path):
    """With another nonce, and said to be others: the labels would get new noise."""
    case = case_in(tmp_path)
    plan = case.planned()
    case.next_round()
    (first,) = case.sent["North"].values()
    mine = case.tables["North"].take(np.arange(150)[::-1])  # so that they are rounded otherwise
    case.sent["North"] = {}
    case.contribute("North", mine, plan, earlier=(first.digest,))
    with pytest.raises(ContributionError, match="two of its contributions have the same sums"):
        case.next_round()


def test_two_parties_with_the_same_sums_are_noted(tmp_path):
    case = case_in(tmp_path)
    case.tables["South"] = case.tables["North"]
    done = case.next_round()
    (note,) = [note for note in done.notes if note.code == "same sums"]
    assert '"South" and "North" sent the same sums' in note.text


def test_what_adds_to_a_contribution_that_is_not_listed_is_noted(tmp_path):
    case = case_in(tmp_path)
    plan = case.planned()
    case.next_round()
    (first,) = case.sent.pop("North").values()
    case.contribute("North", numbers(150, 7), plan, earlier=(first.digest,))
    done = case.next_round()
    (note,) = [note for note in done.notes if note.code == "contributions lacking"]
    assert first.digest[:16] in note.text


def test_rows_in_the_name_of_a_party_that_signs_are_refused(tmp_path):
    case = case_in(tmp_path)
    plan = case.planned()
    for name, table in case.tables.items():
        case.contribute(name, table, plan)
    case.configure(NAMES)
    write(tmp_path / "rows.csv", numbers(150, 8))
    path = tmp_path / "collaboration.toml"
    path.write_text(path.read_text().replace("North-0.contribution", "rows.csv"))
    with pytest.raises(PlanError, match='the plan has "North" sign contributions, and rows'):
        release(run(RunRequest(configuration=tmp_path)))
