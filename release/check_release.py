"""Check that a tag, the package, the citation and the changelog name one version, and print its changes.

``python release/check_release.py v0.3.0``
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where the version is written, and how.
PLACES = {
    "pyproject.toml": r'^version = "(.+)"$',
    "src/suffice/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "recipe/recipe.yaml": r'^  version: "(.+)"$',
    "CHANGELOG.md": r"^## \[(\d.+)\] - \d{4}-\d{2}-\d{2}$",
}


def versions(root: Path = ROOT) -> dict[str, str]:
    """Read the version from every place; the changelog's is its newest one."""
    found = {}
    for place, pattern in PLACES.items():
        match = re.search(pattern, (root / place).read_text(encoding="utf-8"), re.MULTILINE)
        found[place] = match[1] if match else "none"
    return found


def changes_of(version: str, root: Path = ROOT) -> str:
    """Return the section of a version in the changelog, without its heading."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    match = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def main(tag: str) -> str:
    """Return the changes of the tag's version, or exit and say which place has another version."""
    others = {place: version for place, version in versions().items() if f"v{version}" != tag}
    if others:
        listed = ", ".join(f"{place} has {version}" for place, version in others.items())
        sys.exit(f"The tag is {tag}, but {listed}.")
    return changes_of(tag[1:])


if __name__ == "__main__":
    print(main(sys.argv[1]))
