"""What a store holds after a reproduction."""

from __future__ import annotations

from pathlib import Path

from orfeon.workbench.store import RunRow, Store


def rows_of(path: Path, family: str) -> list[RunRow]:
    """All fits of a family of tables."""
    with Store(path) as store:
        (info,) = [info for info in store.studies() if info.name == f"reproduce {family}"]
        return store.open_study(info.name, info.configuration).rows()
