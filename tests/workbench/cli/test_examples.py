"""Examples of the help pages that need no data of one's own work as they stand."""

from __future__ import annotations

import re
import shlex

import pytest

from orfeon.workbench.cli import main

#: What examples may name without there being such a file before.
KNOWN = re.compile(r"(waveform(:\d+)?|model\.orfeon|bag\.orfeon|small\.orfeon|methods)\Z")


def examples(command: str, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out.split("Examples:")[1].split("Exit codes:")[0]
    lines = re.sub(r"\\\n", " ", text).strip().splitlines()
    return [shlex.split(line)[1:] for line in lines if line.strip().startswith("orfeon ")]


def needs_nothing(arguments: list[str]) -> bool:
    files = [word for word in arguments[1:] if "." in word or word.isalpha()]
    return all(KNOWN.match(word) or word == "bagging" for word in files if word[0] != "-")


@pytest.mark.parametrize(("command", "at_least"), [("fit", 1), ("predict", 2), ("prune", 2)])
def test_examples_work(command, at_least, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    able = [each for each in examples(command, capsys) if needs_nothing(each)]
    assert len(able) >= at_least
    for arguments in able:
        few = ["--members", "10", "--n-jobs", "1"] if arguments[0] == "fit" else []
        assert main([*arguments, *few]) == 0, capsys.readouterr().err


def test_examples_of_inspect_work(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    able = [each for each in examples("inspect", capsys) if needs_nothing(each)]
    assert ["inspect", "waveform"] in able
    for arguments in able:
        code = main(arguments)
        assert code == (2 if "model.orfeon" in arguments else 0)
