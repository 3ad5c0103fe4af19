"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from reconbench.reports.text.number_format import scientific


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 3, "0"),
        (0.00545, 3, "0.00545"),
        (1e-9, 3, "10⁻⁹"),
        (2.8937e-11, 3, "2.89·10⁻¹¹"),
        (-2e-5, 3, "−2·10⁻⁵"),
        (123456, 6, "123456"),
        (1e6, 3, "10⁶"),
        (-0.5, 3, "−0.5"),
        (math.inf, 3, "∞"),
        (1e300, 3, "10³⁰⁰"),
        (5e-324, 3, "4.94·10⁻³²⁴"),
        (-1e7, 3, "−10⁷"),
        (999_999_9.0, 3, "10⁷"),
    ],
)
def test_small_and_large_numbers_have_powers_of_ten(value: float, digits: int, text: str) -> None:
    assert scientific(value, digits) == text
