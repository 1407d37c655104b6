"""Beta distributions of load, fitted to mean and deviation."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.usage import FloatArray

Values: TypeAlias = FloatArray | float


class BetaDistribution(NamedTuple):
    """Parameters of a distribution for each node, float64[N] or numbers; invalid ones are not both above 0."""

    alpha: Values
    beta: Values

    @property
    def is_valid(self) -> BoolArray:
        """Where there is a distribution at all, bool[N]."""
        return np.asarray((np.asarray(self.alpha) > 0) & (np.asarray(self.beta) > 0))

    def moment(self, order: int) -> FloatArray:
        """Mean of the value to the power of ``order``, float64[N]; NaN where invalid."""
        alpha, beta = self._parameters()
        product = np.ones_like(alpha)
        for step in range(order):
            product = product * (alpha + step) / (alpha + beta + step)
        return np.where(self.is_valid, product, np.nan)

    def below(self, value: Values) -> FloatArray:
        """Probability of at most ``value`` (the regularised incomplete beta function), float64[N]; 0 where invalid."""
        from scipy.special import betainc  # a slow import, which only this score needs

        alpha, beta = self._parameters()
        at = np.asarray(value, dtype=np.float64)
        found = np.where(at >= 1, 1.0, np.where(at <= 0, 0.0, betainc(alpha, beta, np.clip(at, 0.0, 1.0))))
        is_probability = self.is_valid & (found >= 0) & (found <= 1)
        return np.where(is_probability, found, 0.0)

    def density(self, value: Values) -> FloatArray:
        """Density at ``value``, float64[N]; 0 where invalid and outside 0 to 1."""
        from scipy.special import betaln, xlog1py, xlogy  # as above

        alpha, beta = self._parameters()
        at = np.asarray(value, dtype=np.float64)
        inside = np.clip(at, 0.0, 1.0)
        logarithm = xlogy(alpha - 1, inside) + xlog1py(beta - 1, -inside) - betaln(alpha, beta)
        return np.where(self.is_valid & (at >= 0) & (at <= 1), np.exp(logarithm), 0.0)

    def _parameters(self) -> tuple[FloatArray, FloatArray]:
        """Parameters with 1 in place of invalid ones, which functions of them refuse."""
        valid = self.is_valid
        return np.where(valid, self.alpha, 1.0), np.where(valid, self.beta, 1.0)


def largest_variance(mean: Values) -> FloatArray:
    """Bound that no distribution on 0 to 1 with this mean reaches from below, float64[N]; 0 for a mean outside."""
    at = np.asarray(mean, dtype=np.float64)
    return np.where((at >= 0) & (at <= 1), at * (1 - at), 0.0)


def fitted(mean: Values, variance: Values) -> BetaDistribution:
    """The distribution of this mean and variance, by the method of moments; invalid (0, 0) where there is none."""
    mu, v = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64))
    ceiling = largest_variance(mu)
    exists = (v >= 0) & (v < ceiling)
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        concentration = np.clip(ceiling / v - 1, limits.tiny, limits.max)
    return BetaDistribution(np.where(exists, mu * concentration, 0.0), np.where(exists, (1 - mu) * concentration, 0.0))


def probability_below(mean: FloatArray, deviation: FloatArray, threshold: FloatArray) -> FloatArray:
    """Probability that load of this mean and deviation stays at or below a threshold, float64[N]; all are shares.

    No load is always below; a steady one is below or not; where no distribution fits, it is taken to be above.
    """
    variance = deviation**2
    probability = fitted(mean, variance).below(threshold)
    is_steady = variance == 0
    probability = np.where(is_steady, np.where(mean <= threshold, 1.0, 0.0), probability)
    return np.where(mean == 0, 1.0, probability)
