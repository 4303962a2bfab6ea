# SPDX-License-Identifier: Apache-2.0
"""Philox4x32-10 (Salmon et al., SC 2011) in NumPy, with the counters of libcommon/base/rng.h."""
import numpy as np


def philox(seed, purpose, a, b, c):
    """The four words of counter (c, b, a, purpose): a list of integers, or an array (4,) + b.shape if b is an array."""
    low, high = np.uint64(0xffffffff), np.uint64(32)
    b = np.asarray(b, np.uint64)
    x = [np.full_like(b, c), b, np.full_like(b, a), np.full_like(b, purpose)]
    k0, k1 = seed & 0xffffffff, seed >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * x[0], np.uint64(0xCD9E8D57) * x[2]
        x = [p1 >> high ^ x[1] ^ np.uint64(k0), p1 & low, p0 >> high ^ x[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return np.stack(x) if b.ndim else [int(word) for word in x]
