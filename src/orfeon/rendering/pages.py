"""HTML from Jinja2 templates, in which every value is escaped, and files of it."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def render(package: str, name: str, **values: Any) -> str:
    """Render a template from the folder ``templates`` of a package."""
    return environment(package).get_template(name).render(values)


def write_page(path: str | os.PathLike[str], page: str, what: str) -> Path:
    """Write a page in one step, into folders that are made where they are missing."""
    path = Path(path)
    data = page.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"The {what} cannot be written to {str(path)!r}: {reason}.") from error
    return path


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
