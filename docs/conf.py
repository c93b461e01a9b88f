"""The documentation site.

The whole site, as it is checked (about a minute; writes docs/gallery and docs/api/generated):

    sphinx-build -W --keep-going -b html docs docs/_build/html
    python docs/check_links.py docs/_build/html

Only the written pages, in some seconds, without the gallery and the API reference, and without
writing into docs/:

    sphinx-build -t pages -b html docs /tmp/site

The whole site without running the examples of the gallery: add ``-D plot_gallery=0`` to the first.
No page loads anything from another host: formulas are MathML, made while building (_ext/mathml.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))

import orfeon  # noqa: E402

#: Written pages only: neither the gallery nor the reference.
PAGES_ONLY = "pages" in globals().get("tags", ())

project = "orfeon"
author = "The orfeon developers"
project_copyright = author
release = version = orfeon.__version__
language = "en"

extensions = [
    "lesson",
    "mathml",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_ext", "_landing", "_templates", "**/__pycache__"]
templates_path = ["_templates"]
nitpicky = True
#: Quotes stay as they are written; turning them is a twentieth of the time of a build.
smartquotes = False
suppress_warnings: list[str] = []
if PAGES_ONLY:
    exclude_patterns += ["gallery", "api/generated"]
    # Pages that lead to the parts left out.
    suppress_warnings += ["ref.doc", "toc.excluded", "toc.not_readable"]
    nitpicky = False
else:
    extensions += [
        "sphinx.ext.autodoc",
        "numpydoc",
        "sphinx_gallery.gen_gallery",
        "api_reference",
    ]

# -- API reference ---------------------------------------------------------------------------------

#: Types stand in the docstrings, in words.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_features_as_param_list = True

# -- gallery ---------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_\w+\.py$",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib[text, axes]",
    "within_subsection_order": "FileNameSortKey",
    #: As one would read them; what is not named here comes after.
    "subsection_order": [
        *(
            f"../examples/gallery/{section}"
            for section in ("pruning", "ensembles", "boosting", "combining", "unbalanced")
        ),
        "*",
    ],
    "backreferences_dir": "api/generated/examples",
    "doc_module": ("orfeon",),
    "reference_url": {"orfeon": None},
    "show_memory": False,
    "min_reported_time": 5,
    "download_all_examples": True,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
}

# -- Markdown --------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
#: Links such as page.md#a-heading, as on sites that show the Markdown itself.
myst_heading_anchors = 4

# -- HTML ------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = f"orfeon {release}"
html_static_path = ["_static"]
html_favicon = "_static/orfeon.svg"
#: Dark or light as the reader's system is, until the reader chooses.
html_context = {"default_mode": "auto"}
html_css_files = ["orfeon.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "orfeon",
        "image_light": "_static/orfeon.svg",
        "image_dark": "_static/orfeon.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["version", "theme-switcher"],
    "navbar_persistent": ["search-button"],
    "collapse_navigation": True,
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
ALONE = (
    "architecture", "changelog", "contributing", "estimators", "glossary", "performance",
    "reproduction", "search", "security", "versioning", "which_method",
)  # fmt: skip
html_sidebars = {
    "api/generated/*": ["sidebar-collapse", "family"],
    # Pages that stand alone have nothing to list at the side.
    **{page: [] for page in ALONE},
}
#: Pages that are not in English.
SPANISH = ("documentos", "guide/es/")
#: No prompts, outputs or line numbers in what is copied.
copybutton_exclude = ".linenos, .gp, .go"


def name_language(app, page, template, context, doctree):  # type: ignore[no-untyped-def]
    """Name the language of a page, for readers' voices and browsers' hyphens."""
    if page.startswith(SPANISH):
        context["language"] = "es"


def setup(app):  # type: ignore[no-untyped-def]
    """Connect what the pages need."""
    app.connect("html-page-context", name_language)
