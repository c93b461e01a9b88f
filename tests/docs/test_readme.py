"""The README and the page of all estimators: code runs, links exist, no class is missing."""

import re
import tomllib
from pathlib import Path

import pytest

import orfeon

pytestmark = pytest.mark.tools

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_block_of_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert blocks
    namespace = {"__name__": "__main__"}
    for code in blocks:
        exec(compile(code, "README.md", "exec"), namespace)


def test_links_and_pictures_of_the_readme_exist():
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if ":" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_is_short_and_has_the_command_that_continuous_integration_runs():
    assert len(README) < 9000
    [command] = re.findall(r"<!-- test command -->\n```bash\n(.+)\n```", README)
    assert "-m pytest" in command


def test_the_first_sentence_is_the_same_everywhere():
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sentence = project["description"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for text in (
        README,
        orfeon.__doc__,
        citation["abstract"],
        (ROOT / "docs" / "index.md").read_text(encoding="utf-8"),
    ):
        assert sentence in " ".join(text.split())


def test_the_page_of_all_estimators_has_all_of_them():
    page = (ROOT / "docs" / "estimators.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    public = (name for name in orfeon.__all__ if not name.startswith("_"))
    assert sorted(name for name in public if name not in named) == []
