"""The API reference shows every public name, once, on the page of its family."""

import ast
import importlib
import inspect
import sys
from pathlib import Path

import pytest

import orfeon

pytestmark = pytest.mark.tools

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(orfeon.__file__).parent


@pytest.fixture(scope="module")
def extension():
    """The extensions of the site, as modules by name."""
    pytest.importorskip("sphinx")
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(ROOT / "docs" / "_ext"))


@pytest.fixture(scope="module")
def names(extension):
    return extension("public_names").public_names()


def listed_in(init):
    """The names in the ``__all__`` of a source file, read without importing it."""
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def test_every_name_that_a_package_exports_has_a_page(names):
    shown = {id(public.value) for public in names}
    n_exported = 0
    for init in sorted(SOURCES.rglob("__init__.py")):
        package = ".".join(["orfeon", *init.parent.relative_to(SOURCES).parts])
        if package.startswith(("orfeon.kernels", "orfeon.workbench.cli")):
            continue
        exported = [name for name in listed_in(init) if not name.startswith("__")]
        module = importlib.import_module(package)
        missing = [name for name in exported if id(getattr(module, name)) not in shown]
        assert missing == [], package
        n_exported += len(exported)
    assert n_exported > 400


def test_names_are_shown_at_the_address_that_users_import(names):
    addresses = [public.address for public in names]
    assert len(addresses) == len(set(addresses)) >= 400
    assert {f"orfeon.{name}" for name in orfeon.__all__ if name != "__version__"} <= set(addresses)
    assert "orfeon.ordering.MarginDistance" in addresses
    assert "orfeon.ordering.prune" not in addresses


def test_pages_differ_on_file_systems_that_ignore_capitals(names):
    pages = [public.page.lower() for public in names]
    assert len(pages) == len(set(pages))


def test_every_name_says_what_it_is(extension, names):
    summary_of = extension("public_names").summary_of
    assert [public.address for public in names if len(summary_of(public)) < 10] == []


def test_docstrings_of_public_names_describe_their_parameters_and_results(names):
    validate = pytest.importorskip("numpydoc.validate").validate
    wrong = []
    for public in names:
        # Fields of named tuples are described as attributes; scorers and tables are no functions.
        if inspect.isroutine(public.value) or inspect.isclass(public.value):
            codes = {"GL08", "SS01", "PR02", "RT01", "YD01"}
            codes |= set() if hasattr(public.value, "_fields") else {"PR01"}
            found = validate(public.address)["errors"]
            wrong += [f"{public.address}: {text}" for code, text in found if code in codes]
    assert wrong == []


def test_family_pages_list_their_names_and_the_index_lists_the_families(extension, names):
    reference = extension("api_reference")
    index = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    for family in extension("public_names").FAMILIES:
        members = [public for public in names if public.family == family]
        text = reference.family_text(family, members)
        assert f"generated/{family}\n" in index
        for public in members:
            assert f" {public.page}\n" in text, public.address
            assert f"`{public.name} <{public.address}>`" in text, public.address


def test_a_package_of_no_family_is_refused(extension, monkeypatch):
    module = extension("public_names")
    monkeypatch.delitem(module.FAMILIES, "trees")
    with pytest.raises(LookupError, match=r"orfeon\.trees is in no family"):
        module.public_names()
