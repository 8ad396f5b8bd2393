"""The report in a real browser: Debian's Chromium through Playwright, without a network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fairtrial.analysis import arms, compare, dataset, dataset_tables, scorecard, scorecard_files
from fairtrial.analysis.report import render

from tests import fabricate

pytestmark = pytest.mark.browser

HOSTILE = [json.loads(line)["title"] for line in
           (Path(__file__).parents[1] / "data" / "hostile" / "texts.jsonl").read_text().splitlines()]  # fmt: skip
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
SMALL_TEXT = """() => {
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || !element.getClientRects().length || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    const svg = element.closest("svg");
    const scale = svg ? svg.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 10.999) bad.push(`${text.slice(0, 30)}: ${size}`);
  }
  return bad;
}"""


def report_of(root, **how):
    """Fabricate a tree below `root`, run the three stages, and return the report's folder."""
    matrix = fabricate.tree(root, **how)
    experiment = root / "default"
    dataset.build(root, matrix, experiment / "dataset")
    frame = dataset_tables.frame(experiment / "dataset" / "attempts.parquet")
    scorecard_files.write(scorecard.build(frame, matrix), experiment / "scorecard")
    pairs = compare.all_pairs(frame, {"adapters": arms.roles(matrix)})
    (experiment / "scorecard" / "comparisons.json").write_text(json.dumps(pairs))
    render.build(experiment / "dataset", experiment / "scorecard", matrix, root, experiment / "report")
    return experiment / "report"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Reports by name: everything happens, hostile text, one attempt, no green, many arms."""
    root = tmp_path_factory.mktemp("pages")
    busy = fabricate.Settings(faults=0.03, missing=0.03, excluded=0.03, unscored=0.03, redone=0.03)
    titles = dict(zip(fabricate.task_names(17), HOSTILE, strict=True))
    hostile = fabricate.Settings(titles=titles, final_text="\n".join(HOSTILE), extra_notes=tuple(HOSTILE))
    weak = fabricate.Arm("alder", "m", passes=0.0, simulated=True, backend="plain", degraded=("no user namespaces",))
    many = tuple(fabricate.Arm(f"harness-{n:02d}", f"m-{n % 2}", passes=0.3 + n / 60) for n in range(40))
    return {
        "busy": report_of(root / "busy", settings=busy),
        "hostile": report_of(root / "hostile", tasks=17, repetitions=1, settings=hostile),
        "single": report_of(root / "single", tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:1]),
        "no-green": report_of(root / "red", tasks=3, repetitions=2, arms=(weak,)),
        "many": report_of(root / "many", tasks=5, repetitions=2, arms=many),
    }


@pytest.fixture(scope="module")
def browser():
    """Chromium, or a skip that says what is missing."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip package playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium on PATH (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """Opens a page of a report; afterwards no console message, dialog or request may have happened."""
    contexts, trouble = [], []

    def go(path, width=1240, scheme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: trouble.append(message.text))
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: request.url.startswith(("file:", "data:")) or trouble.append(request.url))
        tab.goto(path.as_uri())
        return tab

    yield go
    for context in contexts:
        context.close()
    assert trouble == []


def an_attempt(folder):
    """The page of some attempt."""
    return sorted((folder / "attempts").rglob("*.html"))[0]


NAMES = ["busy", "hostile", "single", "no-green", "many"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_accessibility_violation(page, folders, name, scheme):
    """axe finds nothing, in neither theme, on the report and on an attempt's page."""
    sync = pytest.importorskip("axe_playwright_python", reason="pip package axe-playwright-python is not installed")
    source = (Path(sync.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for path in (folders[name] / "index.html", an_attempt(folders[name])):
        tab = page(path, scheme=scheme)
        tab.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
        tab.evaluate(source)
        found = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(v["id"], v["nodes"][0]["html"][:160], v["nodes"][0]["failureSummary"]) for v in found] == []


@pytest.mark.parametrize("name", NAMES)
def test_narrow_page_does_not_scroll_sideways(page, folders, name):
    """At 360 px the page is 360 px wide; what is wider scrolls in its own region."""
    for path in (folders[name] / "index.html", an_attempt(folders[name])):
        tab = page(path, width=360)
        assert tab.evaluate("() => document.documentElement.scrollWidth") == 360


def test_charts_of_the_full_width_fit_a_page_of_1200(page, folders):
    """Also beside a scroll bar of 15 px no chart of the page has a scroll bar of its own."""
    regions = "() => [...document.querySelectorAll('.scroll')].filter(r => r.querySelector(':scope > svg.chart')"
    for width in (1185, 1200):
        tab = page(folders["busy"] / "index.html", width=width)
        wide = f"{regions} && r.scrollWidth > r.clientWidth).map(r => r.getAttribute('aria-label'))"
        assert tab.evaluate(wide) == [], width
        assert tab.evaluate(f"{regions}).length") >= 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [360, 1240])
def test_no_text_is_smaller_than_11_px(page, folders, name, width):
    """Also inside charts, as they are drawn."""
    tab = page(folders[name] / "index.html", width=width)
    tab.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.evaluate(SMALL_TEXT) == []


def test_tables_sort_by_keyboard(page, folders):
    """Tab to a heading, Enter sorts up, Enter again down, and the heading says so."""
    tab = page(folders["busy"] / "index.html")
    head = tab.locator("#scorecard thead th").nth(2)
    head.locator("button").focus()
    read = "() => [...document.querySelectorAll('#scorecard tbody')][0].innerText"
    values = """() => [...document.querySelectorAll('#scorecard table')[0].tBodies[0].rows]
        .map(row => parseFloat(row.cells[2].getAttribute('data-v')))"""
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    up = tab.evaluate(values)
    assert up == sorted(up)
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert tab.evaluate(values) == sorted(up, reverse=True)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "none"
    assert tab.evaluate(read)


def test_theme_follows_the_system_and_the_switch(page, folders):
    """Dark by preference, light again by the switch, and the switch says its state."""
    tab = page(folders["busy"] / "index.html", scheme="dark")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(ground)
    switch = tab.locator("#theme")
    assert switch.get_attribute("aria-pressed") == "true"
    switch.press("Enter")
    assert switch.get_attribute("aria-pressed") == "false"
    light = tab.evaluate(ground)
    assert light != dark
    assert page(folders["busy"] / "index.html").evaluate(ground) == light


def test_hostile_text_is_shown_as_typed(page, folders):
    """Titles and transcripts with markup are text: one script, no injected element, and templates as typed."""
    path = next(p for p in sorted((folders["hostile"] / "attempts").rglob("*.html")) if "extract-helper" in str(p))
    tab = page(path)
    body = tab.inner_text("body")
    for text in ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{ 7*7 }}", "&lt;b&gt; already escaped"):
        assert text in body
    assert tab.locator("script").count() == 1
    assert tab.locator("img, iframe, object, embed, form").count() == 0
    assert "\u202e" not in body
    index = page(folders["hostile"] / "index.html")
    assert index.locator("script").count() == 1
    assert index.locator("img, iframe, object, embed, form").count() == 0


def test_the_grid_links_to_each_attempt(page, folders):
    """Following a glyph opens the attempt's page, which leads back."""
    tab = page(folders["busy"] / "index.html")
    link = tab.locator("#failures svg a").first
    label = link.get_attribute("aria-label")
    link.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/attempts/**")
    assert label.split(",")[0] in tab.inner_text("h1")
    tab.get_by_text("Back to the report").click()
    tab.wait_for_url("**/index.html")


def test_it_reads_without_script_and_in_print(page, folders):
    """Nothing on the page needs its script; in print every region is shown whole."""
    tab = page(folders["busy"] / "index.html", java_script_enabled=False)
    assert tab.locator("section").count() >= 13
    printed = page(folders["busy"] / "index.html")
    printed.emulate_media(media="print")
    assert printed.evaluate("() => getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
