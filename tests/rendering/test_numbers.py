"""Numbers are short, and never the same nor out of order where they differ."""

import numpy as np
import pytest

from orfeon.rendering.numbers import distinct_texts, number_text, share_text, weight_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.4499999999999997, "2.45"),
        (0.1 + 0.2, "0.3"),
        (-3.0, "-3"),
        (-0.0, "0"),
        (1234.5678, "1235"),
        (1234.56, "1234.56"),
        ((13.17 + 13.18) / 2, "13.175"),
        (0.12345678, "0.1235"),
        (123456.5, "123456.5"),
        (9999999.0, "9999999"),
        (1.5e7, "1.5e+07"),
        (0.00012344444, "0.0001234"),
        (1.23456e-9, "1.235e-09"),
    ],
)
def test_numbers_have_four_digits_six_if_exact_and_whole_integers(value, text):
    assert number_text(value) == text


def test_decimals_are_obeyed_and_zero_has_no_sign():
    assert number_text(2.0, decimals=2) == "2.00"
    assert number_text(-0.0001, decimals=2) == "0.00"


@pytest.mark.parametrize("decimals", [None, 0, 2])
@pytest.mark.parametrize("spread", [1e-12, 1e-6, 1.0, 1e6])
def test_texts_are_distinct_and_in_order(decimals, spread):
    draws = 1 + spread * np.random.default_rng(0).standard_normal(200)
    values = np.unique(draws).tolist()
    texts = distinct_texts(values, decimals=decimals)
    read = [float(texts[v]) for v in values]
    assert len(texts) == len(values) >= 199
    assert (np.diff(read) > 0).all()


def test_only_colliding_numbers_get_more_digits():
    assert distinct_texts([1.00001, 1.00002, 7.123456]) == {
        1.00001: "1.00001",
        1.00002: "1.00002",
        7.123456: "7.123",
    }


def test_neighbouring_floats_are_told_apart():
    upper = np.nextafter(1.1, 2.0)
    assert distinct_texts([1.1, upper]) == {1.1: "1.1", upper: "1.1000000000000003"}


def test_weights_and_shares():
    assert [weight_text(w) for w in (0.0, 1.0, 15.2666, 14.9999999, 0.25, 1e-6)] == [
        "0", "1", "15.27", "15", "0.25", "1e-06",
    ]  # fmt: skip
    assert [share_text(s) for s in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "0%", "<1%", "50%", ">99%", "100%",
    ]  # fmt: skip
