"""The web app: explanations of one row, of many rows, and global rules, in a browser on this computer.

The server listens on the loopback address only and serves every script itself. ``server`` puts the app together from
``pages``, pages are made of ``parts``, and both show what ``state`` holds. ``serving`` is the web server and keeps
strangers out; ``messages`` rewords the messages of the library.
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
