"""The web app: explanations of a row, of many rows, and global rules, in a browser on this computer.

The server listens on the loopback address only and serves every script itself. Each room uses those before it only:
``words`` rewords messages, ``state`` holds what a running app knows, ``parts`` makes components, ``pages`` arranges
them into pages and connects their callbacks, ``access`` keeps strangers out, ``serving`` is the web server, and
``server`` puts all together.
"""

from __future__ import annotations

try:
    import dash  # noqa: F401
    import dash_ag_grid  # noqa: F401
    import dash_mantine_components  # noqa: F401
    import plotly  # noqa: F401
    import polars  # noqa: F401
    import rich  # noqa: F401
    import waitress  # noqa: F401
except ImportError as error:
    raise ImportError("The web app needs its extra: pip install 'suffice[app]'.", name="suffice[app]") from error
