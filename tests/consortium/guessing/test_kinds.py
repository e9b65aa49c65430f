import pytest

from fairpool.consortium.guessing.dates import guess_dates
from fairpool.consortium.guessing.kinds import guess_kind, is_identifier, missing_tokens
from fairpool.consortium.guessing.numerals import Notation, guess_notation

PLAIN = Notation()


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("rain", ["1.5", "2", "3"], "number"),
        ("rain", ["1.5", "", "NA", "3"], "number"),
        ("plot_id", ["1", "2", "3"], "id"),
        ("plot_id", ["1", "1", "3"], "number"),
        ("id", ["A1", "A2", "A3"], "id"),
        ("zip", ["01234", "99999", "01234", "01234"], "category"),
        ("soil", ["clay", "sand", "clay", "sand"], "category"),
        ("soil", ["clay"] * 4, "category"),
        ("sown", ["2024-12-31", "2023-01-01"], "date"),
        ("sown", ["31.12.2024", "01.02.2024"], "date"),
        ("remark", ["late frost, 1", "hail 2", "none at all", "sold"], "text"),
        ("empty", ["", "NA", ""], ""),
        ("nothing", [], ""),
    ],
)
def test_kinds(name, values, kind):
    assert guess_kind(name, values, PLAIN).kind == kind


def test_numbers_in_a_notation():
    guess = guess_kind("rain", ["1,5", "k.A.", "2"], Notation(","))
    assert (guess.kind, guess.numbers, guess.missing) == ("number", (1.5, 2.0), 1)
    assert guess.tokens == ("k.A.",)


def test_few_whole_numbers_may_be_categories():
    guess = guess_kind("treated", ["0", "1"] * 5, PLAIN)
    assert (guess.kind, guess.certain) == ("number", False)
    assert guess.why == "its only values are 0, 1; are they categories?"


def test_a_sentinel_is_asked_about_and_stays_a_number():
    guess = guess_kind("rain", ["1", "2.5", "-999", "3"], PLAIN)
    assert (guess.kind, guess.sentinels, guess.missing) == ("number", ("-999",), 0)


@pytest.mark.parametrize(
    ("values", "tokens"),
    [
        (["1", "2", "-"], ("-",)),
        (["1", "2", "3", "broken"], ("broken",)),
        (["1", "2", "3", "broken", "lost"], ()),
        (["1", "x", "y"], ()),
        (["+", "-", "+"], ()),
        (["clay", "n.a.", "sand"], ("n.a.",)),
        (["2024-12-31", "?"], ("?",)),
        (["-", "-"], ("-",)),
        ([], ()),
    ],
)
def test_missing_tokens(values, tokens):
    assert missing_tokens(values, PLAIN) == tokens


@pytest.mark.parametrize(
    ("values", "formats"),
    [
        (["2024-12-31", "2024-01-02 10:30"], ("%Y-%m-%d",)),
        (["31.12.2024"], ("%d.%m.%Y",)),
        (["31/12/2024", "01/02/2024"], ("%d/%m/%Y",)),
        (["12/31/2024", "01/02/2024"], ("%m/%d/%Y",)),
        (["01/02/2024"], ("%d/%m/%Y", "%m/%d/%Y")),
    ],
)
def test_date_formats(values, formats):
    guess = guess_dates(values)
    assert guess is not None
    assert guess.formats == formats
    assert guess.ambiguous == (len(formats) > 1)


@pytest.mark.parametrize("values", [[], ["x"], ["2024-12-31", "soon"], ["1.5"], ["31.02.2024"]])
def test_no_dates(values):
    assert guess_dates(values) is None


def test_a_date_in_doubt_is_asked_about():
    guess = guess_kind("sown", ["01/02/2024", "03/04/2024"], PLAIN)
    assert (guess.kind, guess.certain) == ("date", False)
    assert guess.why == "'01/02/2024' may be %d/%m/%Y or %m/%d/%Y: which is it?"


def test_dates_do_not_make_a_decimal_comma_or_thousands():
    assert guess_notation(["31.12.2024", "01.02.2024", "5"]) == Notation()


@pytest.mark.parametrize("name", ["id", "ID", "plot_id", "Plot Nr", "PatientID", "row", "zip code"])
def test_identifiers(name):
    assert is_identifier(name)


@pytest.mark.parametrize("name", ["paid", "acid", "barcode_reader", "", "width", "now", "yield"])
def test_no_identifiers(name):
    assert not is_identifier(name)
