"""A client of the app without a browser: it sends what a browser would send, and returns what the page would show."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import struct
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
MAX_WAIT = 300
"""Seconds for one answer."""
RULES = {"tab": "rules"}
"""The view of the page about global rules."""


class Caller:
    """One connection to the app.

    `visit` gets the cookie by the token; callbacks are named by one of their outputs, as in "answer.children".
    """

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._connection = http.client.HTTPConnection(HOST, port, timeout=MAX_WAIT)
        self._cookie = ""
        self._callbacks: list[dict[str, Any]] = []
        self._token = token

    def visit(self) -> None:
        """Open the first page: it gives the cookie, and the list of the callbacks."""
        self._connection.request("GET", f"/?token={self._token}")
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]
        self._callbacks = json.loads(self.get("/_dash-dependencies"))

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: status {answer.status}")
        return content

    def close(self) -> None:
        self._connection.close()

    def call(self, output: str, trigger: str, values: dict[str, Any]) -> dict[str, Any]:
        """Run a callback. Returns the changed properties, as in {"answer.children": [...]}."""
        headers = {"Cookie": self._cookie, "Content-Type": "application/json"}
        self._connection.request("POST", "/_dash-update-component", self._body(output, trigger, values), headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status == 204:
            return {}
        if answer.status != 200:
            raise RuntimeError(f"{output}: status {answer.status}")
        changed = json.loads(content)["response"]
        return {
            f"{name}.{key.partition('@')[0]}": value
            for name, properties in changed.items()
            for key, value in properties.items()
        }

    def call_and_vanish(self, output: str, trigger: str, values: dict[str, Any], share: float) -> None:
        """Send a share of a request, and close the connection hard, as a client that is killed."""
        body = self._body(output, trigger, values).encode()
        head = (
            f"POST /_dash-update-component HTTP/1.1\r\nHost: {HOST}:{self._port}\r\nCookie: {self._cookie}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        with socket.create_connection((HOST, self._port), timeout=MAX_WAIT) as killed:
            killed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            killed.sendall(head + body[: round(share * len(body))])

    def _body(self, output: str, trigger: str, values: dict[str, Any]) -> str:
        [callback] = [
            one for one in self._callbacks if output in {part.partition("@")[0] for part in _parts(one["output"])}
        ]

        def filled(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [{**part, "value": values.get(f"{part['id']}.{part['property']}")} for part in parts]

        outputs = [dict(zip(("id", "property"), part.split("."), strict=True)) for part in _parts(callback["output"])]
        return json.dumps(
            {
                "output": callback["output"],
                "outputs": outputs if callback["output"].startswith("..") else outputs[0],
                "inputs": filled(callback["inputs"]),
                "state": filled(callback["state"]),
                "changedPropIds": [trigger],
            }
        )

    # --- what a user does ---------------------------------------------------------------------------------------------

    def upload(self, data: bytes, name: str) -> tuple[str | None, str]:
        """Upload a file. Returns the name of the waiting table, or None and why it was refused."""
        values = uploaded(data, name)
        answer = self.call("choose.children", "upload.contents", values)
        return answer.get("waiting.data"), all_text(answer.get("start-message.children"))

    def start_fit(self, table: str, target: int) -> str:
        """Start a fit. Returns the name of the job, "" if the page says that it cannot be started."""
        answer = self.call("fit-job.data", "fit.n_clicks", fit_form(table, target))
        return str(answer.get("fit-job.data") or "")

    def look_at_fit(self, job: str, cancel: bool = False) -> tuple[bool, str, str]:
        """Look at a fit. Returns whether it is over, the name of the workspace, and what the page says."""
        trigger = "fit-cancel.n_clicks" if cancel else "fit-tick.n_intervals"
        answer = self.call("fit-job.data", trigger, {"fit-job.data": job, trigger: 1})
        query = parse_qs(urlsplit(answer.get("goto.data") or "").query)
        return answer["fit-tick.disabled"], query.get("data", [""])[0], all_text(answer["fit-progress.children"])

    def start_rules(self, n_rows: int) -> str:
        """Start to collect the global rules of the first workspace. Returns the name of the job."""
        values = {"rules-n.value": n_rows, "view.data": RULES, "rules-find.n_clicks": 1}
        return str(self.call("rules-job.data", "rules-find.n_clicks", values)["rules-job.data"])

    def look_at_rules(self, job: str, cancel: bool = False) -> tuple[bool, str]:
        """Look at the job of the rules. Returns whether it is over, and what the page says."""
        trigger = "rules-cancel.n_clicks" if cancel else "rules-tick.n_intervals"
        answer = self.call("rules-job.data", trigger, {"rules-job.data": job, "view.data": RULES, trigger: 1})
        return answer["rules-tick.disabled"], all_text(answer["rules-progress.children"])

    def rules(self, job: str) -> list[str] | None:
        """The text of all rules that a job collected; None if the job is gone."""
        values = {"rules-results.hidden": False, "tolerance.value": 0, "rules-job.data": job, "view.data": RULES}
        answer = self.call("rule-grid.rowData", "rules-results.hidden", values)
        return [line["exact"] for line in answer["rule-grid.rowData"]] if "rule-grid.rowData" in answer else None

    def start_stability(self, row: int) -> str:
        """Start to measure the stability of a row of the first workspace. Returns the name of the job."""
        values = {"view.data": {"row": row, "tab": "row"}, "stability-start.n_clicks": 1}
        return str(self.call("stability-job.data", "stability-start.n_clicks", values)["stability-job.data"])

    def cancel_stability(self, job: str, row: int) -> tuple[bool, str]:
        """Cancel, or look whether the job was cancelled. Returns whether it is over, and what the page says."""
        values = {"view.data": {"row": row, "tab": "row"}, "stability-job.data": job, "stability-cancel.n_clicks": 1}
        answer = self.call("stability-job.data", "stability-cancel.n_clicks", values)
        return answer["stability-tick.disabled"], all_text(answer["stability.children"])

    def sets(self, workspace: str, row: int) -> str | None:
        """The text about the other sufficient sets of a row; None if the workspace is gone."""
        shown = {"shown.data": {"data": workspace, "row": row}, "more.value": ["sets"]}
        answer = self.call("more-sets.children", "shown.data", shown)
        return all_text(answer["more-sets.children"]) if "more-sets.children" in answer else None

    def explained(self, workspace: str, row: int) -> str | None:
        """The text about the outcome of a row; None if the workspace is gone."""
        values = {"view.data": {"data": workspace, "row": row}, "shown.data": {"row": -1}}  # another row is shown
        answer = self.call("answer.children", "view.data", values)
        return all_text(answer["answer.children"]) if "answer.children" in answer else None


def uploaded(data: bytes, name: str) -> dict[str, Any]:
    """The values of an upload."""
    return {
        "upload.contents": f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}",
        "upload.filename": name,
    }


def fit_form(table: str, target: int) -> dict[str, Any]:
    """The values of the form that starts a fit."""
    return {"fit.n_clicks": 1, "waiting.data": table, "target.value": str(target), "leave-out.value": []}


def all_text(component: Any) -> str:
    """All text of a component as the server sends it."""
    if isinstance(component, dict):
        return all_text(component.get("props", {}).get("children"))
    if isinstance(component, list):
        return " ".join(filter(None, map(all_text, component)))
    return "" if component is None else str(component)


def _parts(output: str) -> list[str]:
    return output[2:-2].split("...") if output.startswith("..") else [output]
