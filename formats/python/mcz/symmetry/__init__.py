# SPDX-License-Identifier: Apache-2.0
"""The permutation symmetry of any PyTorch module."""
