"""Write the pictures of cards and of the web app: `make screenshots`. It needs Chromium and playwright.

The app shows the demo table of the command, which comes with scikit-learn. Nothing is loaded from the network.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.datasets import load_breast_cancer

from suffice import SufficientExplainer
from suffice.app.server import make_app
from suffice.app.serving import serve_in_thread
from suffice.app.state.sessions import Sessions, demo_workspace
from suffice.app.state.view import View

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = Path(__file__).parent / "images"
SIZE = {"width": 1400, "height": 1000}
CARD_WIDTH = 784
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
WAIT = 60_000  # milliseconds
ROW = 21  # the row that the README explains
APP_ROW = 12  # of the demo table in the app


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Open Chromium, and close it at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


def write_card(browser: Browser) -> None:
    """Write the pictures of the card of one row in light and dark colours, twice as fine as they are shown."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    explanation = SufficientExplainer(random_state=0).fit(X[30:], y[30:]).explain(X[:30])[ROW]
    for scheme, background, name in (("light", "white", "card.png"), ("dark", "#121212", "card-dark.png")):
        context = browser.new_context(
            viewport={"width": CARD_WIDTH, "height": 600}, device_scale_factor=2, color_scheme=scheme
        )
        page = context.new_page()
        body = f"<body style='margin:8px; background:{background}'>{explanation._repr_html_()}</body>"
        page.set_content(f"<meta name='color-scheme' content='{scheme}'>{body}")
        page.screenshot(path=FOLDER / name, full_page=True)
        context.close()


def write_app_pages(page: Page, address: str) -> None:
    """Open pages of the app, wait until each is complete, and write its picture."""
    page.set_default_timeout(WAIT)
    page.goto(address + View(row=APP_ROW).to_search())
    page.wait_for_selector("#reasons .bars")
    page.wait_for_selector("#what-would .change")
    page.wait_for_timeout(1500)
    page.set_viewport_size({**SIZE, "height": 1240})
    page.screenshot(path=FOLDER / "app-one-row.png")
    page.set_viewport_size(SIZE)
    page.goto(address + View(row=5, tab="rules").to_search())
    page.wait_for_selector("#rules-tiles .tile")
    page.wait_for_timeout(1500)
    page.screenshot(path=FOLDER / "app-rules.png")
    page.goto(address + View(tab="quality").to_search())
    page.wait_for_selector("#quality-curves > :nth-child(3) .js-plotly-plot")
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / "app-quality.png", full_page=True)


def main() -> None:
    """Write all pictures."""
    address, server = serve_in_thread(make_app(Sessions(demo_workspace(0))), 0)  # with the token
    with opened_browser() as browser:
        write_card(browser)
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        page.goto(address)
        write_app_pages(page, server.root)
    server.shutdown()


if __name__ == "__main__":
    main()
