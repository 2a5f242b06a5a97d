"""The public names, as the package itself lists them: what ``__all__`` of these modules holds."""

from __future__ import annotations

from importlib import import_module

PUBLIC_MODULES = [
    "suffice",
    *(f"suffice.{name}" for name in ("explaining", "changes", "checks", "reasons", "proofs", "rule_lists")),
    *(f"suffice.{name}" for name in ("plots", "records", "spark", "dask", "errors")),
]


def public_names():
    """Every public name with its value. A class that `suffice` and a room export is there twice."""
    modules = {name: import_module(name) for name in PUBLIC_MODULES}
    return {
        f"{name}.{attribute}": getattr(module, attribute)
        for name, module in modules.items()
        for attribute in module.__all__
        if attribute != "__version__"
    }
