"""Pictures of the web app for the README: `python -m benchmarks.app_pictures`. It needs Chromium and playwright.

The pages show the demo table of the command, which comes with scikit-learn. Nothing is loaded from the network.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from suffice.app.server import make_app, serve_in_thread
from suffice.app.state.desk import Desk
from suffice.app.state.opening import demo_workspace
from suffice.app.state.view import View

FOLDER = Path(__file__).parent.parent / "docs" / "images"
SIZE = {"width": 1400, "height": 1000}
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
WAIT = 60_000  # milliseconds


def main() -> None:
    """Open each page, wait until it is complete, and write its picture."""
    from playwright.sync_api import sync_playwright

    address, server = serve_in_thread(make_app(Desk(demo_workspace(0))), 0)
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        page.set_default_timeout(WAIT)
        page.goto(address + View(row=5).to_search())
        page.wait_for_selector("#sets .ag-row")
        page.wait_for_selector("#curve .js-plotly-plot")
        page.wait_for_timeout(1500)
        page.screenshot(path=FOLDER / "app-one-row.png")
        page.goto(address + View(row=5, tab="rules").to_search())
        page.wait_for_selector("#rules-tiles .tile")
        page.wait_for_timeout(1500)
        page.screenshot(path=FOLDER / "app-rules.png")
        page.goto(address + View(tab="quality").to_search())
        page.wait_for_selector("#quality-content .confusion")
        page.wait_for_timeout(500)
        page.screenshot(path=FOLDER / "app-quality.png", clip={"x": 0, "y": 0, "width": 1400, "height": 500})
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
