"""A page of the app in the browser, and what several of the app's test files need."""

from __future__ import annotations

import base64
import gzip
import importlib
import io
import zipfile
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from suffice.app.serving import HOST
from suffice.app.state import jobs, sessions
from suffice.app.state.view import View

HOSTILE = "<script>alert(1)</script>"
WAIT = 120_000  # milliseconds: a busy machine takes its time


def _run_here(function, *args, max_bytes=None, watch=None, counts_steps=False):
    module, _, name = function.partition(":")
    steps = {"step": watch} if counts_steps else {}
    return getattr(importlib.import_module(module), name)(*args, **steps)


def replace_processes(set_attribute):
    """Let this process do the work of the processes that the app starts."""
    for module in (jobs, sessions):
        set_attribute(module, "run_in_process", _run_here)


def as_upload(data):
    return f"data:text/csv;base64,{base64.b64encode(data).decode()}"


def traffic_table(n):
    """Numbers, whole numbers, labels, booleans, and gaps."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "hour": rng.integers(0, 24, n),
            "temp": np.round(rng.normal(10, 8, n), 2),
            "sky": rng.choice(["clear", "mist", "rain"], n),
            "holiday": rng.random(n) < 0.3,
        }
    )
    frame = frame.with_columns(
        temp=pl.Series(
            [None if gap else v for gap, v in zip(rng.random(n) < 0.1, frame["temp"].to_list(), strict=True)]
        )
    )
    is_busy = (frame["hour"] > 11) & (frame["sky"] != "rain") | frame["holiday"]
    return frame.with_columns(traffic=is_busy.replace_strict({True: "busy", False: "calm"}))


def all_text(component):
    """All text of a component and its children, in order."""
    if component is None or isinstance(component, str | int | float):
        return "" if component is None else str(component)
    if isinstance(component, list | tuple):
        return " ".join(filter(None, map(all_text, component)))
    return all_text(getattr(component, "children", None))


def with_class(component, name):
    """All components of a class below a component."""
    if isinstance(component, list | tuple):
        return [one for child in component for one in with_class(child, name)]
    if component is None or isinstance(component, str | int | float):
        return []
    own = [component] if name in (getattr(component, "className", None) or "").split() else []
    return own + with_class(getattr(component, "children", None), name)


def zip_bomb():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", b"0" * 10**7)
    return packed.getvalue()


BAD_FILES = {
    "empty.csv": (b"", "is empty"),
    "bomb.csv": (zip_bomb(), "zip archive"),
    "nul.csv": (b"a,b\n1,\0\n", "NUL bytes"),
    "broken.parquet": (b"PAR1 nothing", "Parquet"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n")[:-6], "damaged or cut off"),
    "twice.gz": (gzip.compress(gzip.compress(b"a")), "no rows"),
    "ragged.csv": (b"a,b\n1,2,3\n", "line 2: 3 fields"),
    "twins.csv": (b"a,a\n1,2\n", "two columns named 'a'"),
    "header.csv": (b"a,b\n", "no rows"),
}


@cache
def _axe():
    return files("axe_playwright_python").joinpath("axe.min.js").read_text()


class Client:
    """A page of the app, and all that went wrong on it."""

    def __init__(self, context, address, sessions, workspace):
        self.start = f"{address}start"
        self.link = View(data=sessions.add(workspace)) if workspace is not None else View()
        self.root = address
        self.page = context.new_page()
        self.page.set_default_timeout(WAIT)
        self.outside, self.errors, self.alerts = [], [], []
        self.page.on("request", self._see)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda one: self.errors.append(one.text) if one.type == "error" else None)
        self.page.on("response", lambda r: self.errors.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        self.page.on("dialog", self._dismiss)

    def _see(self, request):
        if urlsplit(request.url).scheme not in ("data", "blob") and urlsplit(request.url).hostname != HOST:
            self.outside.append(request.url)

    def _dismiss(self, dialog):
        self.alerts.append(dialog.message)
        dialog.dismiss()

    def open(self, wait_for="#outcome", **view):
        """Follow the link to a view."""
        self.page.goto(self.root + self.link.with_(**view).to_search())
        self.page.wait_for_selector(wait_for)
        return self.page

    def open_start(self):
        self.page.goto(self.start)
        self.page.wait_for_selector("#upload input", state="attached")
        return self.page

    def violations(self):
        """What axe-core finds wrong with the page as it is, for people who cannot see or point well."""
        dimmed = "main [data-dash-is-loading='true']"
        self.page.wait_for_function("s => !document.querySelector(s)", arg=dimmed)
        self.page.evaluate(_axe())
        found = self.page.evaluate("axe.run()")["violations"]
        return [f"{one['id']}: {one['help']}: {node['html'][:200]}" for one in found for node in one["nodes"]]

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, selector, key="Tab"):
        """Press the key until a component, or a part of it, has the focus."""
        for _ in range(80):
            if self.page.evaluate("s => !!document.activeElement.closest(s)", selector):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"no key leads to {selector}")

    def text(self, selector):
        return self.page.inner_text(selector)

    def wait_for_text(self, selector, text):
        assert text, "every page contains the empty text"
        self.page.wait_for_function(
            "([s, t]) => { const e = document.querySelector(s); return e && e.innerText.includes(t); }",
            arg=[selector, text],
        )

    def wait_for_link(self, part):
        self.page.wait_for_function("part => window.location.search.includes(part)", arg=part)

    def set_number(self, column, value):
        self.page.locator(f"input[id*='\"column\":{column}'][id*='value']").fill(str(value))

    def close(self):
        self.page.close()
        assert self.outside == []
        assert self.errors == []
        assert self.alerts == []
