"""Pictures of a report for the docs: python -m tests.browser.screenshots REPORT/index.html docs/pictures/NAME"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
VIEWS = {"light": (1240, "light"), "dark": (1240, "dark"), "narrow": (360, "light")}


def main() -> None:
    """Writes NAME-light.png, NAME-dark.png and NAME-narrow.png."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("name", type=Path)
    options = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    options.name.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for view, (width, scheme) in VIEWS.items():
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(options.page.resolve().as_uri())
            tab.screenshot(path=f"{options.name}-{view}.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
