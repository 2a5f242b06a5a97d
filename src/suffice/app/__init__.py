"""The web app: explanations of a row, of many rows, and global rules, in a browser on this computer.

The server listens on the loopback address only and serves every script itself. ``server`` starts it; ``workspace``
holds an explainer with its table, ``view`` what a page shows and its link; ``one_row``, ``many_rows``, ``rule_list``
and ``start`` are the pages.
"""

from __future__ import annotations

try:
    import dash  # noqa: F401
    import dash_ag_grid  # noqa: F401
    import dash_mantine_components  # noqa: F401
    import plotly  # noqa: F401
    import polars  # noqa: F401
    import rich  # noqa: F401
except ImportError as error:
    raise ImportError("The web app needs its extra: pip install 'suffice[app]'.", name="suffice[app]") from error
