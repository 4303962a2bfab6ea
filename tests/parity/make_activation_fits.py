#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fit the polynomials of kernels/activation.h with Chebyshev polynomials. Prints their coefficients, the constant first.

mc_normal: P(t) with erfc(z) = t exp(P(t) - z^2) and t = 1 / (1 + z / 2), by SciPy's erfcx from z = 0 to 10.
mc_tanh: Q(z) with tanh(x) = x + x z Q(z) and z = x^2, for x up to 0.625."""
import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx


def fit(name, f, low, high, degree):
    t = low + (high - low) * (np.cos(np.pi * (np.arange(400) + .5) / 400) + 1) / 2
    p = Chebyshev.fit(t, f(t), degree, domain=[low, high]).convert(kind=Polynomial).coef
    print(name, *("%.9g" % c for c in p), sep="\n")


fit("mc_normal", lambda t: np.log(erfcx(2 * (1 / t - 1)) / t), 1 / (1 + 14 / 2 ** .5 / 2), 1, 8)
fit("mc_tanh", lambda z: (np.tanh(np.sqrt(z)) / np.sqrt(z) - 1) / z, 1e-6, .625 ** 2, 4)
