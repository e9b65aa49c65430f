"""Texts out of files, as pages show them."""

from fairpool.report.report import templates


def rendered(template, **values):
    return templates().from_string(template).render(**values)


def test_what_cannot_be_seen_is_written_out_in_pages():
    hostile = "a\x1b[2J\u202e<b>"
    assert rendered("<p>{{ text }}</p>", text=hostile) == r"<p>a\x1b[2J\u202e&lt;b&gt;</p>"
    assert rendered("{{ text | prose | safe }}", text=hostile) == r"a\x1b[2J\u202e&lt;b&gt;"
    assert rendered("{{ texts | join(' ') }}", texts=[hostile]) == r"a\x1b[2J\u202e&lt;b&gt;"


def test_a_pages_own_parts_stay_as_they_are():
    assert rendered("{{ script | safe }}", script="a\u2028\tb") == "a\u2028\tb"
    assert rendered("{{ text | wordwrap(3) }}{{ number }}", text="ab cd", number=1.5) == "ab\ncd1.5"
