"""Rows in JSON: ``{"rows": [{"name": cell, ...}, ...]}`` or ``{"rows": [[cell, ...], ...]}``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from orfeon.utils.text import nearest, some_of
from orfeon.workbench.serve.columns import ColumnReader
from orfeon.workbench.serve.errors import RequestError, shown

_BOM = b"\xef\xbb\xbf"


class JSONRows:
    def __init__(self, columns: Sequence[ColumnReader], max_rows: int) -> None:
        self._names = [column.name for column in columns]
        self._max_rows = max_rows
        self._decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)

    def read(self, body: bytes) -> list[Sequence[Any]]:
        """The cells of each row, in the order of the columns."""
        document = self._document(body)
        if type(document) is not dict:
            raise RequestError(
                422, "wrong_shape", f'The body is {shown(document)}; {{"rows": [...]}} is needed.'
            )
        rows = document.get("rows")
        if type(rows) is not list:
            found = f"'rows' is {shown(rows)}" if "rows" in document else "there is no 'rows'"
            raise RequestError(422, "wrong_shape", f"A list 'rows' is needed; {found}.")
        if len(document) > 1:
            more = some_of((shown(name) for name in document if name != "rows"), 5)
            raise RequestError(
                422, "wrong_shape", f"The body has {more} besides 'rows', which is not allowed."
            )
        if not rows:
            raise RequestError(422, "no_rows", "'rows' is empty; at least one row is needed.")
        if len(rows) > self._max_rows:
            raise too_many_rows(len(rows), self._max_rows)
        return self._cells(rows)

    def _cells(self, rows: list[Any]) -> list[Sequence[Any]]:
        names = self._names
        if type(rows[0]) is dict:
            cells: list[Sequence[Any]] = []
            for number, row in enumerate(rows):
                try:
                    cells.append(tuple([row[name] for name in names]))
                except (KeyError, TypeError, IndexError):
                    self._refuse_row(row, number, "an object")
            return cells
        for number, row in enumerate(rows):
            if type(row) is not list or len(row) != len(names):
                self._refuse_row(row, number, "a list")
        return rows

    def _document(self, body: bytes) -> Any:
        if body.startswith(_BOM):
            body = body[len(_BOM) :]
        try:
            return self._decoder.decode(body.decode("utf-8"))
        except UnicodeDecodeError as error:
            message = f"The body is not UTF-8: byte {error.start} is invalid."
        except RecursionError:
            message = "The body is nested too deeply."
        except RequestError:
            raise
        except json.JSONDecodeError as error:
            message = (
                f"The body is not valid JSON: {error}." if body.strip() else "The body is empty."
            )
        except ValueError:  # Python does not parse integers of thousands of digits
            message = "The body has a number with too many digits."
        raise RequestError(400, "bad_json", message)

    def _refuse_row(self, row: Any, number: int, needed: str) -> NoReturn:
        names = self._names
        if type(row) is list and needed == "a list":
            raise RequestError(
                422, "wrong_shape",
                f"Row {number} has {len(row)} cells; the model takes {len(names)}: "
                f"{some_of(names, 5)}.",
                row=number,
            )  # fmt: skip
        if type(row) is not dict or needed == "a list":
            what = "objects or all lists, one a row" if type(row) in (dict, list) else "rows"
            raise RequestError(
                422, "wrong_shape",
                f"Row {number} is {shown(row)}; 'rows' must be all {what}.", row=number,
            )  # fmt: skip
        raise missing_columns([name for name in names if name not in row], list(row), number)


def missing_columns(
    absent: Sequence[str], given: Sequence[str], row: int | None = None
) -> RequestError:
    where = "The table" if row is None else f"Row {row}"
    # Comparing very long names would be slow.
    likely = [name for name in given[:100] if len(name) < 60]
    near = nearest(absent[0], likely, 1)
    found = f" (it has {shown(near[0])})" if near else ""
    how = "an empty cell" if row is None else "null"
    return RequestError(
        422, "missing_column",
        f"{where} has no column {some_of(map(shown, absent), 5)}{found}. All columns are needed; "
        f"a value that is missing is {how}.",
        row=row, column=absent[0],
    )  # fmt: skip


def too_many_rows(found: int, allowed: int) -> RequestError:
    return RequestError(
        422, "too_many_rows",
        f"There are {found:,} rows; at most {allowed:,} are allowed. Send several requests.",
    )  # fmt: skip


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with distinct names: of two values, neither is obviously meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise RequestError(
                    400, "bad_json", f"The name {shown(name)} occurs twice in an object."
                )
            seen.add(name)
    return found


def _refuse(constant: str) -> NoReturn:
    raise RequestError(
        400,
        "bad_json",
        f"{constant} is not valid JSON; missing values are null, and numbers are finite.",
    )
