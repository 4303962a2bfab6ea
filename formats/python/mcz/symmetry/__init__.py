# SPDX-License-Identifier: Apache-2.0
"""The permutation groups of any module, derived from the graph that torch.export records."""

from .derive import Groups

__all__ = ["Groups"]
