"""Every chart of a report is one that Vega-Lite's schema describes, which nobody looks at later."""

import altair as alt
import pytest
from altair.utils.schemapi import SchemaValidationError

from fairpool.consortium.class_example import class_example_files
from fairpool.consortium.example import write_example
from fairpool.report import charts
from tests.support.projects import finished_run, rendered


def test_every_chart_of_a_report(tmp_path, monkeypatch):
    drawn = []

    def held_against_the_schema(chart):
        drawn.append(charts.styled(chart).to_dict(format="vega-lite", validate=True))
        return drawn[-1]

    monkeypatch.setattr(charts, "specification", held_against_the_schema)
    write_example(tmp_path / "classes", class_example_files())
    rendered(finished_run(tmp_path / "classes"))
    # Rewards, coalitions, rho (twice: as it moves, too), scores, reliability, and whose labels
    # agree.
    assert len(drawn) >= 6


def test_a_chart_that_is_none_would_be_found():
    chart = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_bar().encode(x="a:Q")
    chart.mark = "no mark at all"
    with pytest.raises(SchemaValidationError, match="no mark at all"):
        charts.styled(chart).to_dict(format="vega-lite", validate=True)
