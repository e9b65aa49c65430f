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


def numbers(browser):
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
    assert numbers(browser) == pytest.approx(result.scheme.rewards(1.0), abs=0.006)
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
    assert numbers(browser) == pytest.approx(result.scheme.rewards(0.37), abs=0.006)
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
