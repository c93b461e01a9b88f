"""HTML from Jinja2 templates, in which every value is escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def render(package: str, name: str, **values: Any) -> str:
    """Render a template from the folder ``templates`` of a package."""
    return environment(package).get_template(name).render(values)


def escape(text: str) -> Markup:
    """Text as templates write it."""
    import markupsafe

    return markupsafe.escape(_printable(text))


@cache
def environment(package: str) -> Environment:
    """The templates of a package."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made


def _printable(value: Any) -> Any:
    """Replace control characters and lone surrogates, which no page can contain."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", value) if type(value) is str else value
