"""Check the links of the built site, offline: ``python docs/check_links.py docs/_build/html``.

Every local ``href``, ``src`` and ``#anchor`` must lead somewhere; no page may load a script, a
style, a picture or a font from another host; no example of the gallery may lack its picture. What
does not hold is listed, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Features by which a page loads something; an href does so in a <link> only.
LOADING = {"src", "srcset", "poster", "data"}
#: <link>s that name a page without loading it.
NAMING = {
    "canonical",
    "next",
    "prev",
    "index",
    "search",
    "author",
    "help",
    "copyright",
    "alternate",
}
_IN_STYLES = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])([^"')]+)""")


class Page(HTMLParser):
    """What a page links to and loads, and the places in it that can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.bare_thumbnails = 0
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, loads and names."""
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if "href" in given:
            named = tag != "link" or bool(NAMING & set(given.get("rel", "").split()))
            (self.links if named else self.loads).append(given["href"])
        for name in LOADING & set(given):
            listed = given[name].split(",") if name == "srcset" else [given[name]]
            self.loads += [part.split()[0] for part in listed if part.strip()]
        self.loads += _IN_STYLES.findall(given.get("style", ""))
        if tag == "img" and "no_image" in given.get("src", ""):
            self.bare_thumbnails += 1

    def handle_data(self, data: str) -> None:
        """Note what a style within the page loads."""
        if self._in_style:
            self.loads += _IN_STYLES.findall(data)


@cache
def read_page(path: Path) -> Page:
    """A page, read once."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_elsewhere(address: str) -> bool:
    """Whether an address is on another host."""
    return address.startswith("//") or urlsplit(address).scheme in {"http", "https", "ftp"}


def problem_of(address: str, source: Path, root: Path) -> str | None:
    """What is wrong with a local address on a page, if anything."""
    parts = urlsplit(address)
    if parts.scheme or is_elsewhere(address):
        return None
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if not target.is_relative_to(root):
        return "is outside of the site"
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "does not exist"
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in read_page(target).anchors:
        return "has no such place"
    return None


def problems_of(path: Path, root: Path) -> list[str]:
    """Everything that is wrong with the addresses of a page or a style sheet."""
    if path.suffix == ".css":
        text = path.read_text(encoding="utf-8")
        found = Page()
        found.loads = [address for address in _IN_STYLES.findall(text) if "#" not in address]
    else:
        found = read_page(path)
    problems = [f"{url} is loaded from elsewhere" for url in found.loads if is_elsewhere(url)]
    for address in dict.fromkeys([*found.links, *found.loads]):
        wrong = problem_of(address, path, root)
        if wrong:
            problems.append(f"{address} {wrong}")
    if found.bare_thumbnails:
        problems.append(f"{found.bare_thumbnails} examples have no picture")
    return problems


def main(arguments: list[str] | None = None) -> int:
    """Check a site; the exit code is 1 if anything is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="folder of the built site")
    root = parser.parse_args(arguments).site.resolve()
    # The theme leaves templates among its styles and scripts.
    pages = [path for path in root.rglob("*.html") if root / "_static" not in path.parents]
    files = sorted([*pages, *root.rglob("*.css")])
    if not pages:
        print(f"{root} has no pages.", file=sys.stderr)
        return 1
    n_links, n_problems = 0, 0
    for path in files:
        for problem in problems_of(path, root):
            print(f"{path.relative_to(root)}: {problem}")
            n_problems += 1
        if path.suffix == ".html":
            n_links += len(read_page(path).links) + len(read_page(path).loads)
    print(f"{len(pages)} pages, {n_links} links, {n_problems} problems.")
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())
