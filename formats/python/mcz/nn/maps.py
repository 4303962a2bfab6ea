# SPDX-License-Identifier: Apache-2.0
"""Maps of a group's units: an order (integers K: the new unit i is the old unit p[i]) or a matrix
(K, K): the new unit i is the sum over j of M[i, j] times the old unit j."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

CLOSE = 1e-4  # of M M^T to 1


def is_matrix(m: Any) -> bool:
    """True for a matrix, False for an order."""
    return bool(m.ndim == 2)


def unsigned(m: Any) -> Any:
    """|M|. The zeros of a learned order (refine.Order.map) have gradients too, so they keep their
    signs: -0 is a zero with the sign -1."""
    return m * (m.detach().signbit() * -2 + 1) if isinstance(m, torch.Tensor) else abs(m)


def problem(m: NDArray[Any], allows: str) -> str:
    """The reason why a group that allows these maps does not allow a matrix, or ""."""
    wide = m.astype("f8")
    if not np.abs(wide @ wide.T - np.eye(len(m))).max() <= CLOSE:
        return "the matrix is not orthogonal"
    if allows == "permutation":
        return "only permutations are allowed (mcz.torch.canonical makes more possible)"
    if allows == "signed" and not np.isin(wide, (-1, 0, 1)).all():
        return "only permutations with signs are allowed"
    if allows == "rotation" and not is_rotation(wide):
        return "only rotations of each pair of units i and i + n / 2 are allowed"
    if allows == "half-turn" and not is_half_turn(wide):
        return "only signs of each pair of units i and i + n / 2 are allowed"
    if allows == "centred" and not np.abs(wide.sum(1) - 1).max() <= CLOSE:
        return "only matrices that fix the vector of ones are allowed"
    return ""


def is_rotation(m: NDArray[Any]) -> bool:
    """True for an orthogonal matrix that rotates each pair of units i and i + n / 2."""
    i, j = np.arange(len(m)).reshape(2, -1)
    rest = m.copy()
    rest[np.r_[i, i, j, j], np.r_[i, j, i, j]] = 0
    return not rest.any() and bool((m[i, i] * m[j, j] > m[i, j] * m[j, i]).all())


def is_half_turn(m: NDArray[Any]) -> bool:
    """True for a diagonal of signs, equal for the units i and i + n / 2."""
    signs = np.diag(m)
    first, second = signs.reshape(2, -1)
    return bool((m == np.diag(signs)).all() and (abs(first) == 1).all() and (first == second).all())


def complement(n: int) -> torch.Tensor:
    """An orthonormal basis (n, n - 1) of the complement of the vector of ones, in float64."""
    k = torch.arange(1.0, n, dtype=torch.float64)
    rows = torch.arange(n)[:, None]
    basis = (rows < k).double() - k * (rows == k)  # Helmert's
    return basis / (k * (k + 1)).sqrt()


def random_map(n: int, allows: str, rng: np.random.Generator) -> NDArray[Any]:
    """A random map of a kind, in float64."""
    if allows == "permutation":
        return rng.permutation(n)
    if allows == "signed":
        signed: NDArray[Any] = np.eye(n)[rng.permutation(n)] * rng.choice((-1.0, 1.0), n)
        return signed
    if allows == "rotation":
        i, j = np.arange(n).reshape(2, -1)
        angle, rotation = rng.uniform(0, 2 * np.pi, n // 2), np.zeros((n, n))
        rotation[i, i] = rotation[j, j] = np.cos(angle)
        rotation[j, i] = np.sin(angle)
        rotation[i, j] = -rotation[j, i]
        return rotation
    if allows == "half-turn":
        return np.diag(np.tile(rng.choice((-1.0, 1.0), n // 2), 2))
    size = n - (allows == "centred")
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    q *= np.sign(np.diag(r))
    if allows == "centred":
        b = complement(n).numpy()
        q = b @ q @ b.T + 1 / n
    return q
