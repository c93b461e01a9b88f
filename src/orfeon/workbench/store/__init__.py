"""The results store: every finished run of a study, in SQLite or PostgreSQL."""

from orfeon.workbench.store.database import StoreError
from orfeon.workbench.store.store import Store, shown_address
from orfeon.workbench.store.study import RunRow, StoredStudy, StudyInfo

__all__ = ["RunRow", "Store", "StoreError", "StoredStudy", "StudyInfo", "shown_address"]
