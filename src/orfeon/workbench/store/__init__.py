"""The results store: every finished run of a study, in SQLite or PostgreSQL."""

from orfeon.utils.lazy import lazy_names
from orfeon.workbench.store.database import StoreError
from orfeon.workbench.store.store import Store, shown_address
from orfeon.workbench.store.study import RunRow, StoredStudy, StudyInfo

__all__ = ["RunRow", "Store", "StoreError", "StoredStudy", "StudyInfo", "shown_address"]

__getattr__ = lazy_names(__name__, {}, moved={"Study": "orfeon.workbench.store.StoredStudy"})


def __dir__() -> list[str]:
    return sorted(__all__)
