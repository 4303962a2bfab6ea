#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fit the polynomial of mc_normal in kernels/activation.h: P(t) with erfc(z) = t exp(P(t) - z^2) and t = 1 / (1 + z / 2).
The fit uses Chebyshev polynomials and SciPy's erfcx from z = 0 to 10. Prints the coefficients, the constant first."""
import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

low = 1 / (1 + 14 / 2 ** .5 / 2)
t = low + (1 - low) * (np.cos(np.pi * (np.arange(400) + .5) / 400) + 1) / 2
fit = Chebyshev.fit(t, np.log(erfcx(2 * (1 / t - 1)) / t), 8, domain=[low, 1])
print(*("%.9g" % c for c in fit.convert(kind=Polynomial).coef), sep="\n")
