"""Add to an SBOM of an environment what is compiled into the core: nanobind, and robin-map inside it.

``python release/sbom.py environment.json suffice.cdx.json``, with the Python of an environment that has the wheel.
The tool that lists an environment (CycloneDX) sees packages only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def component(name: str, licence: str, description: str, version: str | None = None) -> dict[str, Any]:
    """Describe a library that was compiled in."""
    return {
        "type": "library",
        "bom-ref": f"compiled-in/{name}",
        "name": name,
        **({"version": version, "purl": f"pkg:pypi/{name}@{version}"} if version else {}),
        "description": description,
        "scope": "required",
        "licenses": [{"license": {"id": licence}}],
    }


def needed_by(ref: str, dependencies: list[dict[str, Any]]) -> set[str]:
    """Return what a component depends on, directly or not: an environment also has pip, which nothing needs."""
    direct = {entry["ref"]: entry.get("dependsOn", ()) for entry in dependencies}
    needed: set[str] = set()
    waiting = [ref]
    while waiting:
        ref = waiting.pop()
        if ref not in needed:
            needed.add(ref)
            waiting += direct.get(ref, ())
    return needed


def with_compiled_in(bom: dict[str, Any], nanobind_version: str) -> dict[str, Any]:
    """Return the SBOM of the package: what it needs, and what is compiled into its core."""
    nanobind = component("nanobind", "BSD-3-Clause", "Compiled into suffice._core", nanobind_version)
    robin_map = component("robin-map", "MIT", f"Part of nanobind {nanobind_version}, compiled into suffice._core")
    package = bom["metadata"]["component"]["bom-ref"]
    needed = needed_by(package, bom["dependencies"])
    components = [part for part in bom["components"] if part["bom-ref"] in needed]
    dependencies = [dict(entry) for entry in bom["dependencies"] if entry["ref"] in needed]
    for entry in dependencies:
        if entry["ref"] == package:
            entry["dependsOn"] = [*entry.get("dependsOn", ()), nanobind["bom-ref"]]
    dependencies += [{"ref": nanobind["bom-ref"], "dependsOn": [robin_map["bom-ref"]]}, {"ref": robin_map["bom-ref"]}]
    return {**bom, "components": [*components, nanobind, robin_map], "dependencies": dependencies}


if __name__ == "__main__":
    from suffice._core import _native

    source, target = map(Path, sys.argv[1:])
    version = ".".join(map(str, _native.nanobind_version))
    target.write_text(json.dumps(with_compiled_in(json.loads(source.read_text()), version), indent=2) + "\n")
