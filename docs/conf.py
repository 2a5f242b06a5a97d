"""How the documentation is built: `make docs`. Nothing is loaded from elsewhere, neither here nor by the pages."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

import suffice

mpl.use("agg")
warnings.filterwarnings("ignore", message="One column alone is enough")

project = "suffice"
version = release = suffice.__version__
html_title = "suffice"
copyright = "the authors of suffice"  # noqa: A001

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["Thumbs.db", ".DS_Store"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

# Markdown: headings can be linked to, as on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["config.cache"]

# Reference
autosummary_generate = True
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]

autodoc_typehints = "none"  # numpydoc's sections have the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def enlarge_fonts(gallery_conf: dict[str, Any], fname: str) -> None:
    """Make the text of figures large enough to read in the small pictures of the gallery, too."""
    mpl.rcParams.update({"font.size": 12})


# Gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": "True",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "thumbnail_size": (640, 440),
    "reset_modules": ("matplotlib", enlarge_fonts),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
}

# Pages
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "use_edit_page_button": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_search_scorer = str(Path(__file__).parent / "search_scorer.js")  # pages of the guide first
html_copy_source = False
html_sidebars = {"start": [], "method": [], "security": [], "contributing": []}
copybutton_exclude = ".linenos, .gp, .go"


def skip_members_of_sklearn(app: Any, what: str, name: str, obj: object, skip: bool, options: Any) -> bool | None:
    """Leave out what every scikit-learn estimator has, such as ``set_params`` and the routing of metadata."""
    module = getattr(obj, "__module__", None) or ""
    is_request = name.startswith("set_") and name.endswith("_request")
    return True if is_request or module.startswith("sklearn.") else None


def setup(app: Any) -> None:
    """Connect the handler."""
    app.connect("autodoc-skip-member", skip_members_of_sklearn)
