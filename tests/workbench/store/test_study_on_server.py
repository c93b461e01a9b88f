"""A study whose store is a PostgreSQL server: the same rows as in a file, resumed there too."""

from __future__ import annotations

import pandas as pd
import pytest

from orfeon.datasets import make_waveform
from orfeon.workbench import run_study
from orfeon.workbench.store import Store

pytestmark = pytest.mark.tools


def stored(where):
    with Store(where, read_only=True) as store:
        (info,) = store.studies()
        rows = store.study(info.name).rows()
    return [(row.key, row.configuration, row.seed, row.result) for row in rows]


def test_a_study_on_a_server_has_the_rows_of_one_in_a_file(database_url, tmp_path):
    X, y = make_waveform(90, random_state=0)
    waves = pd.DataFrame(X[:, 5:10], columns=list("abcde")).assign(wave=y)
    options = {"methods": ["baseline", "cart"], "n_jobs": 1}
    in_file = run_study(waves, "wave", store=tmp_path / "s.db", repetitions=2, **options)
    run_study(waves, "wave", store=database_url, repetitions=1, **options)
    on_server = run_study(waves, "wave", store=database_url, repetitions=2, **options)
    assert stored(database_url) == stored(tmp_path / "s.db")
    assert len(stored(database_url)) == 20
    assert on_server.chosen == in_file.chosen
