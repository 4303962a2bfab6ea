# SPDX-License-Identifier: Apache-2.0
"""Align, permute, merge and connect networks (Network) by the groups of their units. mcz.torch has
the public names."""
