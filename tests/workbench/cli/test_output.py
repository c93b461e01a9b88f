"""What commands print: plain in pipes, drawn on terminals, one document for programs."""

from __future__ import annotations

import io
import json
import pathlib

import numpy as np

from orfeon.workbench.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_tables_are_aligned_also_with_wide_characters(capsys):
    output.print_table(["name", "n"], [["日本", 5], ["e\u0301te", 12]], to_the_right={1})
    assert capsys.readouterr().out == "name   n\n日本   5\ne\u0301te   12\n"


def test_tables_of_terminals_are_drawn_and_obey_no_markup(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    rows = [["[red]x[/red]", "1"], ["\x1b[31m", "2"]]
    output.print_table(["name", "n"], rows, title="All [bold]", highlight={0})
    text = terminal.getvalue()
    assert "─" in text
    assert "All [bold]" in text
    assert "[red]x[/red]" in text
    assert "\\x1b[31m" in text
    assert "\x1b[1;32m" in text


def test_no_color_and_dumb_terminals_are_honoured(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    output.print_table(["n"], [["1"]], highlight={0})
    assert "\x1b[32m" not in terminal.getvalue()
    assert "\x1b[1;32m" not in terminal.getvalue()
    monkeypatch.setenv("TERM", "dumb")
    assert not output.is_terminal(terminal)


def test_json_is_one_document_whatever_the_values(capsys):
    document = {
        "nan": float("nan"),
        "numbers": np.array([[1, 2], [3, 4]]),
        "one": np.int64(5),
        "path": pathlib.PurePosixPath("a/b"),
        3: ("x", {"ü"}),
    }
    output.print_json(document)
    assert json.loads(capsys.readouterr().out) == {
        "nan": None, "numbers": [[1, 2], [3, 4]], "one": 5, "path": "a/b", "3": ["x", ["ü"]],
    }  # fmt: skip


def test_facts_leave_out_what_is_not_known(capsys):
    output.print_facts([("rows", 5), ("none", None), ("target", "a\nb")])
    assert capsys.readouterr().out == "rows    5\ntarget  a\\nb\n"
    output.print_facts({})
    assert capsys.readouterr().out == ""


def test_notes_go_to_standard_error_unless_quiet(capsys):
    output.say("told")
    output.say("not told", quiet=True)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "told\n")
