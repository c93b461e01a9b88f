"""The results store: every finished run of a study, in SQLite or PostgreSQL."""

from orfeon.workbench.store.address import shown_address
from orfeon.workbench.store.errors import StoreError
from orfeon.workbench.store.rows import RunRow, StudyInfo
from orfeon.workbench.store.store import Store
from orfeon.workbench.store.study import Study

__all__ = ["RunRow", "Store", "StoreError", "Study", "StudyInfo", "shown_address"]
