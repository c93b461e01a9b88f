"""The results store: every finished run of a study, in SQLite or PostgreSQL."""

from orfeon.study.store.address import shown_address
from orfeon.study.store.errors import StoreError
from orfeon.study.store.rows import RunRow, StudyInfo
from orfeon.study.store.store import Store
from orfeon.study.store.study import Study

__all__ = ["RunRow", "Store", "StoreError", "Study", "StudyInfo", "shown_address"]
