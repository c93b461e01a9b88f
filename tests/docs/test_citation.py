"""The citation file is what the Citation File Format 1.2.0 asks for, and up to date."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Keys of the format, and which of them must be there.
REQUIRED = {"cff-version", "message", "title", "authors"}
KEYS = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "type", "url", "version",
}  # fmt: skip
PERSON = {"family-names", "given-names", "name-particle", "name-suffix", "orcid", "affiliation"}
REFERENCE = {
    "type", "title", "authors", "journal", "volume", "issue", "start", "end", "year", "doi",
    "collection-title", "collection-type", "conference", "publisher", "isbn",
}  # fmt: skip


def people(entry):
    """Authors of a work, checked: persons, or entities with a name."""
    assert entry["authors"]
    for author in entry["authors"]:
        if "name" in author:
            assert set(author) <= {"name", "website", "email"}
        else:
            assert {"family-names", "given-names"} <= set(author) <= PERSON
    return entry["authors"]


def test_the_keys_are_those_of_the_format():
    assert set(CITATION) >= REQUIRED
    assert set(CITATION) <= KEYS
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    texts = ("message", "title", "abstract", "license")
    assert all(isinstance(CITATION[name], str) and CITATION[name].strip() for name in texts)
    assert all(isinstance(word, str) for word in CITATION["keywords"])
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"])


def test_it_names_the_release_and_licence_of_the_project():
    assert str(CITATION["version"]) == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]
    assert [author["name"] for author in people(CITATION)] == [
        author["name"] for author in PROJECT["authors"]
    ]
    assert CITATION["keywords"] == PROJECT["keywords"]


def test_papers_are_whole():
    assert len(CITATION["references"]) >= 2
    for paper in CITATION["references"]:
        assert {"type", "title", "authors", "year"} <= set(paper) <= REFERENCE
        assert paper["type"] in {"article", "conference-paper", "thesis", "book"}
        assert 1980 < paper["year"] < 2030
        assert paper["end"] > paper["start"]
        assert len(people(paper)) == 2


def test_the_page_on_versions_cites_this_release():
    text = (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8")
    [cited] = re.findall(r"^> (.*)$", text, re.MULTILINE)
    assert cited == f"{PROJECT['authors'][0]['name']}. {CITATION['title']}. Version 0.2.0."
    assert cited.endswith(f"Version {PROJECT['version']}.")


@pytest.mark.parametrize("name", ["SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_pages_that_stand_in_two_places_link_only_what_works_in_both(name):
    """The site shows them, too, and rewrites only links that begin with docs/."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not link.startswith("docs/")] == []
    assert [link for link in links if not (ROOT / link).exists()] == []
    page = (ROOT / "docs" / name.lower()).read_text(encoding="utf-8")
    assert f"{{include}} ../{name}" in page
    assert ":relative-docs: docs/" in page


def test_security_names_the_version_that_is_supported():
    minor = ".".join(PROJECT["version"].split(".")[:2])
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert f"the latest minor release ({minor})" in text
