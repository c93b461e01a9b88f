"""Whatever the bytes: a table, or a sentence. Never anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import shared

from orfeon.datasets import read_file
from orfeon.errors import UserError
from orfeon.workbench.prepare import prepare

ROWS = [
    f'{"rs"[i % 2]},{i / 3:.3f},2024-01-{i % 28 + 1:02},"a, {i % 3}",{("yes", "no", "no")[i % 3]}'
    for i in range(40)
]
GOLF = "\n".join(['outlook,humidity,"the day",wind,play', *ROWS]).encode()
ARFF = (
    "@relation g\n@attribute u numeric\n@attribute 'v w' {a,b}\n@attribute s string\n"
    "@attribute d date yyyy-MM-dd\n@data\n"
    + "".join(f"{i},{'ab'[i % 2]},'x {i % 5}',2024-01-0{i % 9 + 1}\n" for i in range(20))
).encode()

relaxed = settings(
    max_examples=shared.cases(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def read_and_prepare(path, content):
    """All that a command does to a file; mistakes of users are the only errors."""
    path.write_bytes(content)
    try:
        frame = read_file(path)
        assert len(frame) > 0
        prepared = prepare(frame, frame.columns[-1])
    except UserError:
        return
    numbers = prepared.X.select_dtypes("number").to_numpy()
    assert not np.isinf(numbers).any()
    assert len(prepared.X) == len(prepared.y) > 0
    again = prepared.preparation.transform(frame)
    assert list(again.columns) == list(prepared.X.columns)


@given(content=st.binary(max_size=300))
@relaxed
def test_any_bytes(tmp_path, content):
    read_and_prepare(tmp_path / "a.csv", content)


@given(content=st.text(alphabet=" \t\r\n,;\"'?x1.-{}@%#é\u2028", max_size=200))
@relaxed
def test_any_text(tmp_path, content):
    read_and_prepare(tmp_path / "a.csv", content.encode())


@pytest.mark.parametrize("whole", [GOLF, ARFF], ids=["csv", "arff"])
def test_files_with_a_few_bytes_changed(tmp_path, whole):
    generator = np.random.default_rng(0)
    for _ in range(shared.cases(60)):
        content = bytearray(whole)
        for position in generator.integers(0, len(whole), generator.integers(1, 6)):
            content[position] = generator.integers(0, 256)
        begin, end = sorted(generator.integers(0, len(whole), 2))
        if generator.random() < 0.3:
            del content[begin:end]
        read_and_prepare(tmp_path / "a.csv", bytes(content))
