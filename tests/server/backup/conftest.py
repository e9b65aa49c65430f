import pytest
import vl_convert


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch):
    """Pages are as ever but for their charts, which take long to draw."""
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda specification: "<svg></svg>")
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: "vega")
