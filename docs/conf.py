"""How the pages are built: `make docs`, strictly and without the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402 it lies beside this file

import occamkit  # noqa: E402

project = "occamkit"
author = "The occamkit authors"
release = version = occamkit.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["_build", "**/_generated"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"occamkit {release}"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
python_display_short_literal_types = True

# There is no network here, so nothing outside occamkit can be linked to.
nitpick_ignore_regex = [("py:.*", r"(?!occamkit\b).*")]


def setup(app: Any) -> None:
    """Write the generated pages and teach autodoc to read our docstrings."""
    generate.write_primitives(HERE / "reference" / "_generated" / "primitives.md")
    app.connect("autodoc-process-docstring", generate.to_restructured_text)
