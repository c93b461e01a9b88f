"""The API reference: a page for each family and for each public name, made from the packages.

Pages are written into api/generated when a build begins. References that name an object by another
address than the shortest (``orfeon.ordering.prune`` for ``orfeon.prune``, a bare ``prune`` in a
docstring of the same package) are led to its page; those to objects that are not public, or to
other libraries, stay plain text, if the object exists. Everything else is a warning.
"""

from __future__ import annotations

import importlib
import inspect
import io
import os
import pprint
import re
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from docutils import nodes
from public_names import FAMILIES, KINDS, PublicName, comment_of, public_names, summary_of
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

FOLDER = Path("api") / "generated"
#: The examples that use an object, where there are some: the gallery is made before the reference.
EXAMPLES = "\n.. minigallery:: {}\n   :add-heading: Examples in the gallery\n"
_REFERENCE = re.compile(r":\w+:`~?([^`]+)`")
#: How numpydoc refers to an attribute that has a docstring of its own.
_ATTRIBUTE = re.compile(r":obj:`(\w+) <[\w.]*?\1>`")


# -- pages -----------------------------------------------------------------------------------------


def headed(title: str, line: str = "=") -> str:
    """A title in reStructuredText."""
    return f"{title}\n{line * len(title)}\n"


def _indented(text: str, by: int = 3) -> str:
    return "\n".join(" " * by + line if line else "" for line in text.splitlines())


def methods_of(value: type) -> dict[str, tuple[type, Any]]:
    """Public methods and properties of a class, with the class that defines them."""
    found = {}
    for name in dir(value):
        owner = next((base for base in value.__mro__ if name in vars(base)), object)
        defined = vars(owner).get(name)
        # Fields of named tuples are data too, but have no names of their own to refer to.
        is_method = inspect.isroutine(defined) or hasattr(defined, "__get__")
        if not name.startswith("_") and is_method and type(defined).__name__ != "_tuplegetter":
            found[name] = (owner, defined)
    return found


def told_by(names: list[PublicName]) -> dict[int, PublicName]:
    """The class on whose page a method is described in full, by the identity of the method.

    Dozens of estimators share most of their methods. Each is described once, by the class that
    defines it or else by the first that has it; the others list it and refer there.
    """
    found: dict[int, PublicName] = {}
    order = list(FAMILIES)
    for public in sorted(names, key=lambda each: (order.index(each.family), each.name)):
        if not inspect.isclass(public.value):
            continue
        for owner, defined in methods_of(public.value).values():
            if type(defined).__name__ == "RequestMethod":  # scikit-learn's, made for each class
                continue
            if owner is public.value:
                found[id(defined)] = public
            elif owner.__module__.startswith("orfeon"):
                found.setdefault(id(defined), public)
    return found


def first_sentence(value: Any) -> str:
    """The first paragraph of a docstring, on one line, with names in place of references."""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return _REFERENCE.sub(r"``\1``", text)


def page_of_class(public: PublicName, tellers: dict[int, PublicName]) -> str:
    """The page of a class: its docstring, its methods, and those it shares with others."""
    in_full, rows, elsewhere = [], [], []
    for name, (owner, defined) in methods_of(public.value).items():
        teller = tellers.get(id(defined))
        if teller is None:
            if "sklearn." in f"{owner.__module__}{type(defined).__module__}":
                elsewhere.append(f"``{name}``")
        elif teller is public:
            in_full.append(name)
        else:
            link = f":py:obj:`{name} <{teller.address}.{name}>`"
            rows.append(f"   * - {link}\n     - {first_sentence(getattr(public.value, name))}\n")
    text = f".. autoclass:: {public.name}\n"
    if in_full:
        text += f"   :members: {', '.join(in_full)}\n"
    if rows:
        text += f"\n.. rubric:: Shared with other classes\n\n{table_from(rows)}"
    if elsewhere:
        text += f"\n.. rubric:: From scikit-learn\n\n{', '.join(elsewhere)}.\n"
    return text


def page_of_constant(public: PublicName) -> str:
    """The page of a constant: what it is for, and its value where that can be read."""
    shown = pprint.pformat(public.value, width=88, sort_dicts=False)
    text = f".. py:data:: {public.name}\n\n{_indented(comment_of(public))}\n"
    if isinstance(public.value, (tuple, str, int, float)) and " object at 0x" not in shown:
        text += f"\n   .. code-block:: python\n\n{_indented(shown, 6)}\n"
    elif isinstance(public.value, dict):
        keys = ", ".join(f"``{key!r}``" for key in public.value)
        text += f"\n   Keys: {keys}.\n"
    return text


def page_text(public: PublicName, tellers: dict[int, PublicName]) -> str:
    """The page of a public object."""
    text = f"{headed(public.name)}\n.. currentmodule:: {public.package}\n\n"
    if public.kind == "Constants":
        text += page_of_constant(public)
    elif public.kind == "Functions":
        text += f".. autofunction:: {public.name}\n"
    else:
        text += page_of_class(public, tellers)
    return text


def table_from(rows: list[str]) -> str:
    """A table of names and what they are."""
    return ".. list-table::\n   :class: api-table\n   :widths: 35 65\n\n" + "".join(rows)


def table_of(names: list[PublicName]) -> str:
    """A table of public names and their first sentences."""
    rows = [
        f"   * - :py:obj:`{each.name} <{each.address}>`\n     - {summary_of(each)}\n"
        for each in names
    ]
    return table_from(rows)


def family_text(family: str, names: list[PublicName]) -> str:
    """The page of a family: its packages in turn, each with tables by kind."""
    title, _ = FAMILIES[family]
    text = f"{headed(title)}\n"
    homes = list(dict.fromkeys(sorted((each.home for each in names), key=_place_of(family))))
    for home in homes:
        module = importlib.import_module(home)
        if len(homes) > 1:
            text += f"{headed(home, '-')}\n"
        text += (
            f".. py:module:: {home}\n\n{(module.__doc__ or '').split('References')[0].strip()}\n\n"
        )
        own = [each for each in names if each.home == home]
        for heading, members in groups_of(module, own):
            text += f"{headed(heading, '~' if len(homes) > 1 else '-')}\n{table_of(members)}\n"
    listed = "".join(f"   {each.page}\n" for each in names)
    return f"{text}\n.. toctree::\n   :hidden:\n\n{listed}"


def groups_of(module: Any, names: list[PublicName]) -> Iterator[tuple[str, list[PublicName]]]:
    """The tables of a package: by its subjects if it has any, otherwise by kind."""
    subjects = getattr(module, "_SUBJECTS", {})
    of_name = {
        name: title for title, homes in subjects.items() for its in homes.values() for name in its
    }
    for heading in subjects or KINDS:
        members = [each for each in names if of_name.get(each.name, each.kind) == heading]
        if members:
            yield heading, members


def _place_of(family: str) -> Any:
    listed = FAMILIES[family][1]
    return lambda home: (
        next(i for i, m in enumerate(listed) if f"{home}.".startswith(f"{m}.")),
        home,
    )


def commands_text() -> str:
    """The page of the commands: what each prints when asked for help."""
    from orfeon.workbench import cli

    text = f"{headed('Commands')}\n.. code-block:: text\n\n{_indented(_help_of())}\n"
    for command in cli.available_commands():
        text += f"\n{headed(f'orfeon {command}', '-')}\n"
        text += f".. code-block:: text\n\n{_indented(_help_of(command))}\n"
    return text


def _help_of(*command: str) -> str:
    from orfeon.workbench import cli

    shown = io.StringIO()
    narrow = mock.patch.dict(os.environ, COLUMNS="80")  # as wide as a page, whatever the terminal
    with narrow, redirect_stdout(shown), suppress(SystemExit):
        cli.main([*command, "--help"])
    return shown.getvalue()


def pages(names: list[PublicName], tellers: dict[int, PublicName]) -> Iterator[tuple[str, str]]:
    """Names and texts of all pages."""
    for public in names:
        yield public.page, page_text(public, tellers)
    for family in FAMILIES:
        members = [each for each in names if each.family == family]
        if members:
            yield family, family_text(family, members)
    yield "commands", commands_text()


def write_pages(app: Sphinx) -> None:
    """Write the pages that changed, and remove those that are no more."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    app.orfeon_names = names = public_names()  # type: ignore[attr-defined]
    app.orfeon_tellers = told_by(names)  # type: ignore[attr-defined]
    written = set()
    for name, text in pages(names, app.orfeon_tellers):  # type: ignore[attr-defined]
        if (folder / "examples" / f"{name.removesuffix('-class')}.examples").exists():
            text += EXAMPLES.format(name.removesuffix("-class"))
        path = folder / f"{name}.rst"
        written.add(path)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.rst"):
        if path not in written:
            path.unlink()


def families_beside(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the pages of the reference the families, and the names of their own, to list."""
    folder = FOLDER.as_posix()
    if not page.startswith(f"{folder}/"):
        return
    names: list[PublicName] = app.orfeon_names  # type: ignore[attr-defined]
    current = next((each.family for each in names if page == f"{folder}/{each.page}"), page)
    context["families"] = [
        (
            title,
            f"{folder}/{family}",
            [(each.name, f"{folder}/{each.page}") for each in names if each.family == family]
            if current in (family, f"{folder}/{family}")
            else [],
        )
        for family, (title, _) in [*FAMILIES.items(), ("commands", ("Commands", []))]
        if f"{folder}/{family}" in app.env.found_docs
    ]


# -- references ------------------------------------------------------------------------------------


def found_by(address: str) -> tuple[list[Any], str]:
    """The objects along an address, from the innermost module on, and the rest of the address."""
    parts = address.split(".")
    for n in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        values = [value]
        for i, part in enumerate(parts[n:]):
            try:
                values.append(getattr(values[-1], part))
            except AttributeError:
                return values, ".".join(parts[n + i :])
        return values, ""
    return [], address


def candidates(target: str, node: pending_xref, names: list[PublicName]) -> Iterator[str]:
    """Addresses that a reference may mean, the likeliest first."""
    yield target
    for public in names:
        if not node["refdoc"].endswith(f"/{public.page}"):
            continue
        yield f"{public.address}.{target}"
        for owner in getattr(public.value, "__mro__", (public.value,)):
            yield f"{owner.__module__}.{target}"
    if node.get("py:module"):
        yield f"{node['py:module']}.{target}"
    head, _, tail = target.partition(".")
    for public in names:
        if public.name == head:
            yield f"{public.address}.{tail}" if tail else public.address


def resolved(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Element
) -> nodes.Element | None:
    """Lead a reference to the page of the object that it means; plain text if it has no page."""
    if node.get("refdomain") != "py":
        return None
    names: list[PublicName] = app.orfeon_names  # type: ignore[attr-defined]
    by_value = {id(each.value): each for each in names}
    objects = env.domains["py"].objects  # type: ignore[attr-defined]
    for candidate in candidates(node["reftarget"], node, names):
        values, rest = found_by(candidate)
        if not values or rest:
            continue
        last = candidate.split(".")[-1]
        teller = app.orfeon_tellers.get(_identity(values, last))  # type: ignore[attr-defined]
        for address in (
            f"{teller.address}.{last}" if teller else "",
            *(by_value[id(value)].address for value in reversed(values) if id(value) in by_value),
        ):
            if address in objects:
                return _link(app, node, objects[address], address, text)
        return text
    return None


def _identity(values: list[Any], name: str) -> int:
    """What a method is known by among those that are told in full."""
    if len(values) > 1 and inspect.isclass(values[-2]):
        return id(methods_of(values[-2]).get(name, (None, None))[1])
    return 0


def _link(app: Sphinx, node: pending_xref, place: Any, title: str, text: nodes.Element) -> Any:
    link = f"{app.builder.get_relative_uri(node['refdoc'], place.docname)}#{place.node_id}"
    return nodes.reference("", "", text, internal=True, refuri=link, reftitle=title)


def with_full_addresses(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Say where the attributes are told that a docstring lists; numpydoc gives bare names."""
    if what != "class":
        return
    methods = methods_of(value)

    def address(found: re.Match[str]) -> str:
        defined = methods.get(found[1], (None, None))[1]
        teller = app.orfeon_tellers.get(id(defined))  # type: ignore[attr-defined]
        return f":obj:`{found[1]} <{teller.address}.{found[1]}>`" if teller else f"**{found[1]}**"

    lines[:] = [_ATTRIBUTE.sub(address, line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the pages and the references."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", with_full_addresses, priority=900)  # after numpydoc
    app.connect("missing-reference", resolved)
    app.connect("html-page-context", families_beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
