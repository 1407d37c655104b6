"""Beta distributions fitted to load."""

from __future__ import annotations

from math import comb, exp, inf, lgamma, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.scheduling.scoring.beta_distribution import (
    BetaDistribution,
    fitted,
    largest_variance,
    probability_below,
)


def by_counting(alpha: int, beta: int, value: float) -> float:
    """Probability that at least ``alpha`` of ``alpha + beta - 1`` uniform numbers are at most ``value``."""
    number = alpha + beta - 1
    return sum(comb(number, k) * value**k * (1 - value) ** (number - k) for k in range(alpha, number + 1))


@given(alpha=st.integers(1, 30), beta=st.integers(1, 30), value=st.floats(0, 1))
def test_probabilities_equal_those_of_order_statistics(alpha: int, beta: int, value: float) -> None:
    """For whole parameters the probability is a sum of binomial terms."""
    assert float(BetaDistribution(alpha, beta).below(value)) == pytest.approx(by_counting(alpha, beta, value), abs=1e-9)


@given(alpha=st.floats(0.05, 50), beta=st.floats(0.05, 50), value=st.floats(0.01, 0.99))
def test_the_density_is_that_of_the_formula(alpha: float, beta: float, value: float) -> None:
    """x^(a-1) (1-x)^(b-1) over the beta function."""
    scale = lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta)
    wanted = exp((alpha - 1) * log(value) + (beta - 1) * log(1 - value) + scale)
    assert float(BetaDistribution(alpha, beta).density(value)) == pytest.approx(wanted, rel=1e-9)


@given(mean=st.floats(0.001, 0.999), share=st.floats(0.001, 0.999))
def test_a_fit_has_the_moments_it_was_fitted_to(mean: float, share: float) -> None:
    """Mean and variance come back, whatever part of the largest variance it is."""
    variance = share * float(largest_variance(mean))
    found = fitted(mean, variance)
    assert bool(found.is_valid)
    assert float(found.moment(1)) == pytest.approx(mean, rel=1e-9)
    assert float(found.moment(2)) - float(found.moment(1)) ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("mean", [0.0, 1.0, -0.5, 1.5, nan])
def test_means_on_or_outside_the_ends_have_no_distribution(mean: float) -> None:
    """Nor has a variance that none can have."""
    assert not bool(fitted(mean, 0.01).is_valid)
    assert float(fitted(mean, 0.01).below(0.5)) == 0
    for variance in (-0.1, 0.25, nan, inf):
        assert not bool(fitted(0.5, variance).is_valid)


@given(
    mean=st.floats(0, 1),
    deviation=st.one_of(st.floats(0, 1), st.sampled_from((1e-300, 1e-170, 1e-9))),
    threshold=st.floats(0, 1),
)
def test_every_answer_is_a_probability(mean: float, deviation: float, threshold: float) -> None:
    """However extreme the load is, and growing with the threshold."""
    arrays = [np.array([value]) for value in (mean, deviation, threshold)]
    found = float(probability_below(*arrays)[0])
    assert 0 <= found <= 1
    assert float(probability_below(arrays[0], arrays[1], np.array([1.0]))[0]) >= found - 1e-9


def test_steady_load_is_below_or_not() -> None:
    """No load is below anything; without deviation the mean decides."""
    mean, deviation, threshold = np.array([0.0, 0.4, 0.4]), np.array([0.2, 0.0, 0.0]), np.array([0.0, 0.4, 0.3])
    assert probability_below(mean, deviation, threshold).tolist() == [1.0, 1.0, 0.0]


def test_the_third_moment() -> None:
    """Of the uniform distribution it is a quarter; of none it is undefined."""
    assert float(BetaDistribution(1, 1).moment(3)) == 0.25
    assert np.isnan(BetaDistribution(-1, 1).moment(1))
    assert float(BetaDistribution(2, 2).density(1.5)) == 0
