"""``orfeon warmup``: what is compiled is counted, timed, kept, and not compiled again."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

import pytest

import orfeon
from orfeon.workbench.cli import main
from orfeon.workbench.cli.warmup import FAMILIES, _chosen, _counted_kernels


def test_families_are_told_with_their_times(capsys):
    assert main(["warmup", "--family", "gradient,perceptrons", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["family"] for each in document["families"]] == ["gradient", "perceptrons"]
    assert all(each["seconds"] > 0 for each in document["families"])
    assert document["seconds"] == sum(each["seconds"] for each in document["families"])
    assert os.path.isdir(document["cache"])


def test_a_second_time_nothing_is_left_to_do(capsys):
    main(["warmup", "--family", "ordering"])
    capsys.readouterr()
    assert main(["warmup", "--family", "ordering"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["ordering", "0"]
    assert lines[-1].startswith("All kernels were already compiled (checked in ")


def test_a_family_that_is_not_known_is_refused(capsys):
    assert main(["warmup", "--family", "tree"]) == 2
    assert capsys.readouterr().err.startswith(
        "orfeon warmup: error: --family: unknown family 'tree' (did you mean 'trees'?)."
    )


def test_large_tables_are_left_to_those_who_have_them():
    assert _chosen(None) == [name for name in FAMILIES if name != "large"]
    assert _chosen(["all"]) == list(FAMILIES)
    assert _chosen(["large", "trees"]) == ["trees", "large"]


def test_every_estimator_that_is_fitted_is_public():
    for steps in FAMILIES.values():
        for step in steps:
            assert hasattr(orfeon, step.estimator)


def test_kernels_that_are_compiled_are_counted_once_each_and_the_notice_keeps_still():
    import numba

    level = logging.getLogger("orfeon").level
    with _counted_kernels() as n_kernels:
        inner = numba.njit(lambda x: x + 1)

        @numba.njit
        def outer(x):
            return inner(x) * 2

        assert outer(3) == 8
        assert n_kernels() == 1
        assert outer(2.5) == 7.0
        assert n_kernels() == 2
        assert logging.getLogger("orfeon").level == logging.ERROR
    assert logging.getLogger("orfeon").level == level


@pytest.mark.thorough
@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="kernels are plain Python"
)
def test_a_cold_cache_is_filled_and_a_later_process_finds_it(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "orfeon", "warmup", "--family", "perceptrons", "--json"]

    def warm() -> dict:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert ended.stderr == ""
        document: dict = json.loads(ended.stdout)
        return document

    first, second = warm(), warm()
    assert first["n_kernels"] > 0
    assert first["cache"].startswith(str(tmp_path))
    assert second["n_kernels"] == 0
