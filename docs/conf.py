"""How the site is built: `make docs`. The folder that comes out has all that its pages need."""

import sys
from pathlib import Path

import fairpool

sys.path.insert(0, str(Path(__file__).parent))

project = "fairpool"
author = "the fairpool authors"
release = fairpool.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_extension"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"fairpool {release}"
html_show_sphinx = False
html_show_copyright = False
smartquotes_action = "qe"  # two hyphens are the beginning of an option, not a dash
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
highlight_language = "text"

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

# A docstring says `value` where a name or a formula is meant.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
