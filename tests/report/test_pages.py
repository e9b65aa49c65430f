"""The report and the letters in a real browser."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import fairpool as fp
from fairpool.consortium.example import write_example
from tests.support.browser import chromium, console, open_page, requests
from tests.support.projects import round_folder, written_run


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    write_example(folder)
    run = written_run(folder)
    return round_folder(folder), run.collaboration


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


def text(browser, css):
    return browser.find_element(By.CSS_SELECTOR, css).text


def largest_first(rewards):
    return sorted(rewards, reverse=True)


def numbers(browser):
    """The rewards that the table shows, in its order."""
    return [float(e.text) for e in browser.find_elements(By.CSS_SELECTOR, "[data-reward]")]


def test_the_report_works_offline_without_a_complaint(browser, demo):
    open_page(browser, demo[0] / "operator" / "report.html")
    WebDriverWait(browser, 20).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#rho-chart svg.marks")
    )
    assert console(browser) == []
    assert requests(browser) == []
    assert text(browser, "h1") == "Three hospitals"
    assert "Hospital A receives the best model" in text(browser, "main")
    assert len(browser.find_elements(By.CSS_SELECTOR, ".chart svg")) == 6


def test_the_slider_moves_rewards_welfare_verdicts_and_chart(browser, demo):
    path, result = demo
    open_page(browser, path / "operator" / "report.html")
    WebDriverWait(browser, 20).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#rho-chart svg.marks")
    )
    chart = browser.find_element(By.ID, "rho-chart")
    slider = browser.find_element(By.ID, "rho")
    before = chart.get_attribute("innerHTML")
    slider.send_keys(Keys.END)
    assert text(browser, "#rho-value") == "1.00"
    assert numbers(browser) == pytest.approx(largest_first(result.scheme.rewards(1.0)), abs=0.006)
    found = fp.check_incentives(result.game, result.contributions, result.scheme.rewards(1.0))
    assert (
        text(browser, "[data-condition=stable] [data-answer]")
        == {True: "✓ yes", False: "✗ no"}[found["stable"].holds]
    )
    assert text(browser, "[data-condition=stable] [data-why]") == found["stable"].why
    assert found["stable"].holds is False
    WebDriverWait(browser, 10).until(lambda _: chart.get_attribute("innerHTML") != before)
    slider.send_keys(Keys.HOME)
    assert numbers(browser) == pytest.approx([result.game.total] * 3, abs=0.006)
    assert float(text(browser, "#welfare")) == pytest.approx(3 * result.game.total, abs=0.006)
    assert text(browser, "#welfare-share") == "100%"
    assert text(browser, "[data-condition=R7] [data-answer]") == "✓ yes"
    assert text(browser, "[data-condition=R5] [data-answer]") == "✗ no"
    for _ in range(37):
        slider.send_keys(Keys.ARROW_RIGHT)
    assert text(browser, "#rho-value") == "0.37"
    assert numbers(browser) == pytest.approx(largest_first(result.scheme.rewards(0.37)), abs=0.006)
    assert text(browser, "[data-condition=stable] [data-answer]") == "✓ yes"


def test_the_marks_jump_to_rho_s_and_rho_r(browser, demo):
    path, result = demo
    open_page(browser, path / "operator" / "report.html")
    chosen, stable, rational = browser.find_elements(By.CSS_SELECTOR, ".marks button")
    rational.click()
    assert text(browser, "#rho-value") == f"{min(result.scheme.rho_rational, 1):.2f}"
    stable.click()
    assert text(browser, "#rho-value") == f"{result.scheme.rho_stable:.2f}"
    assert f"{result.scheme.rho_stable:.4g}" in stable.text
    chosen.click()
    assert text(browser, "#verdicts-rho") == f"{result.rho:.2f}"


@pytest.mark.parametrize("width", [390, 1100])
def test_pages_fit_a_phone_and_a_desk(browser, demo, width):
    pages = [
        demo[0] / "operator" / "report.html",
        *sorted((demo[0] / "parties").glob("*/letter.html")),
    ]
    assert len(pages) == 4
    for page in pages:
        open_page(browser, page, width)
        assert console(browser) == []
        assert requests(browser) == []
        # Wide tables and charts scroll within themselves, never the page.
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def long_named(tmp_path_factory):
    """Six parties with names of sixty letters, and ten with short ones."""
    from tests.support.examples import MODELS, make_parties

    folder = tmp_path_factory.mktemp("names")
    places = ("North", "South", "East", "West", "Centre", "Coast")
    names = [f"Hospital of the Sisters of Charity in the {place}, II. ward" for place in places]
    for page, called in (("few", names), ("many", [f"clinic {k:03d}" for k in range(10)])):
        made = make_parties([9 + k for k in range(len(called))], 0)
        parties = [fp.Party(name, one.X, one.y) for name, one in zip(called, made, strict=True)]
        fp.collaborate(parties, MODELS["blr"], rho=0.9).report(folder / f"{page}.html")
    return folder


BOXES = """
return [...document.querySelectorAll(arguments[0] + ' text')].filter(t => t.textContent.trim())
  .map(t => [t.textContent, ...['left', 'top', 'right', 'bottom'].map(
    side => t.getBoundingClientRect()[side])])
"""
"""Every text of a chart, and where it is."""


def meet(one, other):
    _, left, top, right, bottom = one
    _, left_, top_, right_, bottom_ = other
    # Lines of text may touch: their boxes are a little higher than their letters.
    return min(right, right_) - max(left, left_) > 1 and min(bottom, bottom_) - max(top, top_) > 3


@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("page", ["few", "many"])
def test_no_text_of_the_chart_along_rho_is_on_another_or_cut(browser, long_named, page, width):
    open_page(browser, long_named / f"{page}.html", width)
    WebDriverWait(browser, 20).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#rho-chart svg.marks")
    )
    boxes = browser.execute_script(BOXES, "#rho-chart")
    # A name has a halo of its own beneath it, at the same place.
    apart = [box for k, box in enumerate(boxes) if box[0] not in {other[0] for other in boxes[:k]}]
    assert "chosen" in "".join(box[0] for box in apart)
    for k, box in enumerate(apart):
        assert not [other for other in apart[:k] if meet(box, other)], box
        assert box[1] >= 0
        assert box[3] <= width


@pytest.mark.parametrize("width", [390, 1100])
def test_what_is_wider_than_the_screen_says_so(browser, long_named, width):
    open_page(browser, long_named / "few.html", width)
    # The live chart takes the place of the one that was drawn before, and is narrower.
    WebDriverWait(browser, 20).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#rho-chart.vega-embed:not(.wide) svg.marks")
    )
    parts = browser.execute_script(
        "return [...document.querySelectorAll('.scroll, .chart')].map(part => ["
        " part.scrollWidth > part.clientWidth + 1,"
        " getComputedStyle(part, '::before').content, part.tabIndex])"
    )
    assert any(wide for wide, _, _ in parts) == (width == 390)
    for wide, hint, tab_index in parts:
        assert ("more to the right" in hint) == wide
        assert tab_index == (0 if wide else -1)


def test_whose_row_it_is_stays_in_sight_while_a_table_scrolls(browser, long_named):
    open_page(browser, long_named / "few.html", 390)
    places = browser.execute_script(
        "return [...document.querySelectorAll('.scroll:has(.parties)')].map(part => {"
        " part.scrollLeft = 60; const cell = part.querySelector('tbody td');"
        " return [part.scrollLeft,"
        "  cell.getBoundingClientRect().left - part.getBoundingClientRect().left]; })"
    )
    assert any(scrolled == 60 for scrolled, _ in places)
    for _, left in places:
        assert left == pytest.approx(0, abs=1)


def test_charts_on_a_phone_are_not_shrunk(browser, long_named):
    open_page(browser, long_named / "few.html", 390)
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('.chart svg')].map("
        "svg => [svg.getBoundingClientRect().width, svg.viewBox.baseVal.width])"
    )
    assert sizes
    for shown, drawn in sizes:
        assert shown == pytest.approx(drawn, rel=0.01)


def test_a_letter_is_one_printed_page_about_one_party(browser, demo):
    import base64
    import re

    for name in ("Hospital-A", "Hospital-B", "Hospital-C"):
        open_page(browser, demo[0] / "parties" / name / "letter.html")
        page = text(browser, "main")
        assert f"To {name.replace('-', ' ')}" in page
        assert "reward.safetensors" in page
        for other in {"Hospital A", "Hospital B", "Hospital C"} - {name.replace("-", " ")}:
            assert other not in page
        printed = base64.b64decode(
            browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})[
                "data"
            ]
        )
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


def test_charts_are_on_paper_too(browser, demo):
    for page in ("operator/report.html", "parties/Hospital-A/letter.html"):
        open_page(browser, demo[0] / page)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        shown = browser.execute_script(
            "return [...document.querySelectorAll('.chart svg')].map("
            "svg => getComputedStyle(svg).display)"
        )
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert shown
        assert "none" not in shown


def test_hostile_names_stay_text(browser, tmp_path):
    import numpy as np
    from sklearn.gaussian_process.kernels import RBF

    rng = np.random.default_rng(0)
    evil = (
        '</script><script>document.title="hacked"</script>'
        '<img src=x onerror=document.title="hacked">'
    )
    X = rng.standard_normal((20, 2))
    parties = [fp.Party(evil, X[:12], X[:12, 0]), fp.Party("{{ 7 * 7 }}", X[12:], X[12:, 0])]
    fp.collaborate(parties, fp.GaussianProcess(RBF(), 0.1)).report(tmp_path / "report.html")
    open_page(browser, tmp_path / "report.html")
    WebDriverWait(browser, 20).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, "#rho-chart svg.marks")
    )
    assert browser.title != "hacked"
    assert evil in text(browser, "main")
    assert "{{ 7 * 7 }}" in text(browser, "main")
    assert console(browser) == []


def test_reports_of_every_shape_render(browser, tmp_path):
    """One party; many parties, sampled; nothing to give; parties without rows of their own."""
    import numpy as np

    from tests.support.examples import MODELS, make_parties

    cases = {
        "one": (make_parties([8], 0), MODELS["gp"]),
        "many": (make_parties([3] * 20, 0), MODELS["blr"]),
        "empty": (make_parties([8, 9, 0], 0), MODELS["sparse"]),
        "summaries": ([MODELS["blr"].summarise(p) for p in make_parties([8, 9], 0)], MODELS["blr"]),
    }
    for name, (parties, model) in cases.items():
        fp.collaborate(parties, model).report(tmp_path / f"{name}.html")
    zeros = [fp.Party("a", np.zeros((3, 3)), [1, 2, 3]), fp.Party("b", np.zeros((1, 3)), [4])]
    with pytest.warns(fp.FairpoolWarning, match="nothing to give"):
        fp.collaborate(zeros, fp.BayesianLinearRegression(0.1, bias=False)).report(
            tmp_path / "nothing.html"
        )
    for page in sorted(tmp_path.glob("*.html")):
        open_page(browser, page)
        WebDriverWait(browser, 20).until(
            lambda b: b.find_elements(By.CSS_SELECTOR, "#rho-chart svg.marks")
        )
        assert console(browser) == [], page.name
