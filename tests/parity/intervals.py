"""Intervals that no package has, with scipy and written from their definitions."""

import numpy as np
from scipy import optimize, stats


def tango(wins, losses, n):
    """Tango's score interval (1998) of the difference of paired shares, where the score test at 5% begins to reject."""
    def score(delta):
        # The maximum of the likelihood under the hypothesis, for a loss with probability q and a win with q + delta.
        a, b, c = 2 * n, -wins - losses + (2 * n - wins + losses) * delta, -losses * delta * (1 - delta)
        q = (np.sqrt(max(b * b - 4 * a * c, 0)) - b) / (2 * a)
        return (wins - losses - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))

    z, edge, middle = stats.norm.ppf(0.975), 1 - 1e-12, (wins - losses) / n
    low = optimize.brentq(lambda it: score(it) - z, -edge, middle - 1e-12, xtol=1e-14)
    high = optimize.brentq(lambda it: score(it) + z, middle + 1e-12, edge, xtol=1e-14)
    return low, high


def few(values, least, most):
    """Wilson's interval for the passes and failures that have the variance of the values in [least, most], to which one
    value at each end was added, weighted by how far the commonest value exceeds half of them."""
    unit = (np.array(values) - least) / (most - least)
    n, weight = len(unit), max(0, 2 * np.unique(unit.round(12), return_counts=True)[1].max() / len(values) - 1)
    weights, all_units = np.r_[np.ones(n), weight, weight], np.r_[unit, 0, 1]
    centre = np.average(all_units, weights=weights)
    variance = (weights * (all_units - centre) ** 2).sum() / (weights.sum() - 1)
    effective, t, mean = n * centre * (1 - centre) / variance, stats.t.ppf(0.975, n - 1), unit.mean()
    ends = [
        (mean + t * t / 2 / effective + sign * t * np.sqrt(mean * (1 - mean) / effective + t * t / 4 / effective**2))
        / (1 + t * t / effective)
        for sign in (-1, 1)
    ]
    return tuple(least + end * (most - least) for end in ends)
