# SPDX-License-Identifier: Apache-2.0
"""An nn.Module: its tensors, inputs, batches and structure, and how to run it without changing it.
Groups of units are in symmetry and modules, which use this folder."""
