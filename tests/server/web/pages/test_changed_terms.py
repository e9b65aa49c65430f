from fairpool.server.web.pages.terms_views import Change


def kinds(change):
    return [(piece.kind, piece.text) for piece in change.pieces]


def test_texts_that_are_alike_differ_by_words():
    change = Change.between("Rho", "rho is the largest value of all", "rho is the least value")
    assert kinds(change) == [
        ("same", "rho is the"),
        ("gone", "largest"),
        ("new", "least"),
        ("same", "value"),
        ("gone", "of all"),
    ]


def test_texts_that_are_not_alike_are_shown_as_wholes():
    assert kinds(Change.between("X", "one thing", "something quite else")) == [
        ("gone", "one thing"),
        ("new", "something quite else"),
    ]
    assert kinds(Change.between("X", "", "it came")) == [("new", "it came")]
    assert kinds(Change.between("X", "it went", "")) == [("gone", "it went")]
