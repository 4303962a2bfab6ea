# SPDX-License-Identifier: Apache-2.0
"""Small vision transformers for tests, from pipelines/modules/networks.py."""
import networks
import torch


def net(seed, width, layers):
    """An untrained network whose parameters, norms and biases included, are all random."""
    torch.manual_seed(seed)
    n = networks.ViT(width, layers, 2)
    with torch.no_grad():
        for p in n.parameters():
            p.add_(.1 * torch.randn_like(p))
    return n


def equal(m, n):
    return all(torch.equal(u, v) for u, v in zip(m.state_dict().values(), n.state_dict().values()))
