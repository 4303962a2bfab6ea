# SPDX-License-Identifier: Apache-2.0
"""The permutation groups of any module, derived from the graph that torch.export records."""

from .groups import Groups

__all__ = ["Groups"]
