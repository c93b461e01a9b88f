"""A small terminal: what a display leaves on the screen, also when the window changes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n])")


@dataclass
class Row:
    text: str = ""
    is_folded: bool = False


class Screen:
    """Rows of a terminal that folds long lines again when its width changes, as most do."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows = [Row()]
        self.y = self.x = 0
        self.cursor_shown = True
        self.styles: set[str] = set()

    @property
    def lines(self) -> list[str]:
        """What is to be read, without empty rows at the end."""
        texts = [row.text.rstrip() for row in self.rows]
        while texts and not texts[-1]:
            texts.pop()
        return texts

    def feed(self, text: str) -> None:
        for private, numbers, letter, control, character in _TOKEN.findall(text):
            if control == "\r":
                self.x = 0
            elif control == "\n":
                self._down()
            elif character:
                self._put(character)
            elif letter == "A":
                assert self.y >= int(numbers or 1), "the cursor left the screen"
                self.y -= int(numbers or 1)
            elif letter == "K":
                assert numbers == "2"
                self._erase()
            elif letter == "m":
                self.styles.update(numbers.split(";"))
            elif private and numbers == "25":
                self.cursor_shown = letter == "h"
            else:
                raise AssertionError(f"not understood: {private}{numbers}{letter}")

    def _down(self) -> None:
        self.y += 1
        if self.y == len(self.rows):
            self.rows.append(Row())

    def _put(self, character: str) -> None:
        if self.x == self.width:
            self.rows[self.y].is_folded = True
            self._down()
            self.x = 0
        row = self.rows[self.y]
        padded = row.text.ljust(self.x)
        row.text = padded[: self.x] + character + padded[self.x + 1 :]
        self.x += 1

    def _erase(self) -> None:
        self.rows[self.y] = Row()
        if self.y:
            self.rows[self.y - 1].is_folded = False

    def resize(self, width: int) -> None:
        """Join what was folded, fold it anew, and keep the cursor at its letter."""
        lines: list[str] = []
        place = (0, 0)
        text = ""
        for y, row in enumerate(self.rows):
            if y == self.y:
                place = (len(lines), len(text) + self.x)
            text += row.text
            if not row.is_folded:
                lines.append(text)
                text = ""
        self.width = width
        self.rows = []
        for number, line in enumerate(lines):
            if number == place[0]:
                self.y = len(self.rows) + max(0, place[1] - 1) // width
                self.x = place[1] - (self.y - len(self.rows)) * width
            parts = [line[i : i + width] for i in range(0, len(line), width)] or [""]
            self.rows += [Row(part, is_folded=True) for part in parts]
            self.rows[-1].is_folded = False
