"""The check of the built site finds what leads nowhere, and nothing else."""

import pytest
from tests.programs import load

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def check():
    return load("check_links", "docs").main


GOOD = """
<link rel="stylesheet" href="style.css?v=1"><link rel="canonical" href="https://example.org/">
<h1 id="top place">Title</h1><a href="#top%20place">up</a><a href="part/">part</a>
<a href="part/index.html#here">here</a><a href="https://example.org/x">elsewhere</a>
<a href="mailto:a@example.org">write</a><img src="a%20b.png" srcset="a%20b.png 1x, a%20b.png 2x">
"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "index.html").write_text('<p id="here"><a href="../index.html">up</a></p>')
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "style.css").write_text('a { background: url("a b.png") }')
    (tmp_path / "a b.png").write_bytes(b"")
    return tmp_path


def test_a_sound_site_passes(check, site, capsys):
    assert check([str(site)]) == 0
    assert capsys.readouterr().out == "2 pages, 11 links, 0 problems.\n"


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="gone.html">x</a>', "gone.html does not exist"),
        ('<a href="#gone">x</a>', "#gone has no such place"),
        ('<a href="part/#gone">x</a>', "part/#gone has no such place"),
        ('<a href="../secret">x</a>', "../secret is outside of the site"),
        ('<img src="gone.png">', "gone.png does not exist"),
        ('<img src="a%20b.png" srcset="gone.png 2x">', "gone.png does not exist"),
        ('<script src="https://cdn.org/x.js"></script>', "cdn.org/x.js is loaded from elsewhere"),
        ('<link rel="stylesheet" href="//cdn.org/x.css">', "x.css is loaded from elsewhere"),
        ("<style>@import 'https://cdn.org/x.css';</style>", "x.css is loaded from elsewhere"),
        ('<p style="background: url(http://cdn.org/x.png)">', "x.png is loaded from elsewhere"),
        ('<img src="data:," alt=""><img src="no_image.png">', "1 examples have no picture"),
    ],
)
def test_what_leads_nowhere_is_listed(check, site, capsys, html, problem):
    with (site / "index.html").open("a") as page:
        page.write(html)
    assert check([str(site)]) == 1
    assert any(
        line.startswith("index.html: ") and line.endswith(problem)
        for line in capsys.readouterr().out.splitlines()
    )


def test_styles_that_load_from_elsewhere_are_listed(check, site, capsys):
    (site / "style.css").write_text("@font-face { src: url(https://cdn.org/x.woff2) }")
    assert check([str(site)]) == 1
    assert "style.css: https://cdn.org/x.woff2 is loaded from elsewhere" in capsys.readouterr().out


def test_a_folder_without_pages_fails(check, tmp_path, capsys):
    assert check([str(tmp_path)]) == 1
    assert "has no pages" in capsys.readouterr().err
