# SPDX-License-Identifier: Apache-2.0
"""Export the graph of an nn.Module (formats/codecs/graph.md): trace it, and compare the result."""
