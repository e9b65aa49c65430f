"""Rounds without pictures: drawing them takes longer than all else."""

import pytest
import vl_convert


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch):
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda specification: "<svg></svg>")
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: "vega")
