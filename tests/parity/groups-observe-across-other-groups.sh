# SPDX-License-Identifier: Apache-2.0
# mcz.torch.align finds planted orders from activations if every value that shows a group's units also has units of another
# group: norms that all heads share, an MLP over positions, dense mixtures of experts, Mamba2. Lists of outputs (unbind,
# split, chunk) and states of recurrent layers are observed too. Batches may have several lengths.
need_torch 2.4 transformers
export OMP_NUM_THREADS=1 PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity
$python - 2>errors <<'END' || die "$(tail -n 4 errors)"
import copy

import mcz
import mcz.torch
import numpy as np
import torch
from expected_groups import VOCAB, Attention, transformer
from hostile_modules import Apply, parameter
from torch import nn
from torch.nn import functional as F


def mixture(m, x):
    hidden = F.relu(torch.einsum("bi,ehi->beh", x, m.up))
    return torch.einsum("be,beh,eho->bo", m.gate(x).softmax(-1), hidden, m.down)


def tokens_mixed(m, x):
    x = m.stem(x)
    return m.head((x + m.b(F.gelu(m.a(m.norm(x).mT))).mT).mean(1))


def lists(m, x):
    a, b = m.first(x).tanh().unbind(1)
    c, d = torch.cat([a, b.tanh()], 1).split([6, 10], 1)
    e, f = m.last((m.c(c) + m.d(d)).tanh()).chunk(2, -1)
    return torch.cat([m.e(e.tanh()), m.f(f.tanh())], -1)


def recurrent(m, x):
    return m.head(m.rnn(x)[0][:, -1])


def sequences(n, *shape):
    return torch.randn(n, *shape)


torch.manual_seed(0)
NETS = {
    "norms of queries and keys": (Attention(), *(sequences(32, n, 7) for n in (5, 3, 8))),
    "MLP over positions": (Apply(tokens_mixed, stem=nn.Linear(7, 12), norm=nn.LayerNorm(12), a=nn.Linear(6, 9),
                                 b=nn.Linear(9, 6), head=nn.Linear(12, 3)), sequences(64, 6, 7)),
    "mixture of experts": (Apply(mixture, gate=nn.Linear(7, 4), up=parameter(4, 6, 7), down=parameter(4, 6, 5)),
                           sequences(64, 7)),
    "lists of outputs": (Apply(lists, first=nn.Linear(7, 8), c=nn.Linear(6, 9), d=nn.Linear(10, 9), last=nn.Linear(9, 12),
                               e=nn.Linear(6, 3), f=nn.Linear(6, 3)), sequences(64, 2, 7)),
    "LSTM": (Apply(recurrent, rnn=nn.LSTM(7, 8, 2, batch_first=True, bidirectional=True), head=nn.Linear(16, 3)),
             sequences(64, 4, 7)),
    "Mamba2": (transformer("Mamba2ForCausalLM", "Mamba2Config", vocab_size=VOCAB, hidden_size=16, num_heads=4, head_dim=8,
                           state_size=6, n_groups=2, num_hidden_layers=2, expand=2, chunk_size=4, use_cache=False),
               torch.randint(VOCAB, (32, 9))),
}
for name, (a, *batches) in NETS.items():
    with torch.no_grad():
        for v in a.eval().parameters():
            v.add_(torch.randn(v.shape) * .3)
    g = mcz.torch.groups(a, batches[0])
    rng = np.random.default_rng(0)
    b = mcz.torch.permute(copy.deepcopy(a), {k: rng.permutation(n) for k, n in g.sizes.items()}, g)
    moved = [k for k, v in a.state_dict().items() if not torch.equal(v, b.state_dict()[k])]
    found = mcz.torch.permute(b, mcz.torch.align(a, b, batches, g), g).state_dict()
    different = [k for k, v in a.state_dict().items() if not torch.equal(v, found[k])]
    print(name, g.sizes, len(moved), different, flush=True)
    assert moved and not different, (name, different)
END
if grep -q "almost no variance" errors; then die "$(head -n 3 errors)"; fi
