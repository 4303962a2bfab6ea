# SPDX-License-Identifier: Apache-2.0
"""The maps, such as rotations, that each group of a canonical network allows, derived by hand from the networks' sources.
mcz.torch.groups must find them after mcz.torch.canonical.

Each function of NETS returns (net, example, untie, counts):

    example  n -> an input with a batch of n
    untie    whether canonical unties the head
    counts   Counter {(allows, units, units of the enclosing group): number of groups}

All gains, biases and LayerScales are random, as after training: with gains of one, more would be allowed."""
import sys
from collections import Counter
from pathlib import Path

import torch
from torch import nn

import expected_groups as known

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pipelines" / "modules"))

NETS = {}


def network(name):
    def add(function):
        NETS[name] = function
        return function
    return add


def trained(net, seed=0):
    """The network with random vectors and larger weights."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in net.named_parameters():
            if p.dim() == 1 or "scale" in name or "gamma" in name:
                p.copy_((0 if name.endswith("bias") else 1) + .3 * torch.randn(p.shape, generator=g))
            elif p.dim() == 2:
                p.copy_(torch.randn(p.shape, generator=g) / p.shape[-1] ** .5)
    return net.eval()


def vectors(width):
    return lambda n, seed=0: torch.randn(n, width, generator=torch.Generator().manual_seed(seed))


def flat(allows, *units):
    return Counter((allows, n, 0) for n in units)


def attention(heads, width, layers=1):
    """Heads are permuted (each is read by its own softmax); within a head the queries and keys have one orthogonal map,
    and the values another: what balancing leaves of any invertible map."""
    return Counter({("permutation", heads, 0): layers, ("orthogonal", width, heads): 2 * heads * layers})


def hidden(*units):
    """The hidden units of MLPs: an activation function reads them one by one."""
    return flat("permutation", *units)


def rotations(units, heads, n):
    """Maps that rotary positions leave in queries and keys."""
    return Counter({("rotation", units, heads): n})


# LLaMA with 2 key heads and 3 query heads each, without its rotations
LLAMA = flat("orthogonal", 48) + flat("signed", 40, 40) + Counter(
    {("permutation", 2, 0): 2, ("permutation", 3, 2): 4, ("orthogonal", 8, 2): 4})


@network("the ViT of pipelines/modules")
def vit():
    # LayerNorms read the stream; their gains go into the qkv, the first layer of each MLP and, through the mean over
    # tokens, into the head. Patches, positions, attentions and MLPs write it.
    import networks
    return trained(networks.ViT(16, 2, 2)), known.images(32), False, sum(
        (flat("centred", 16), attention(2, 8, 2), hidden(32, 32)), Counter())


@network("GPT-2, tied")
def gpt2_tied():
    # lm_head is the embedding, which the final gain may not enter: the stream is only permuted
    return trained(known.gpt2()), known.tokens(5), False, sum(
        (flat("permutation", 24), attention(3, 8, 2), hidden(96, 96)), Counter())


@network("GPT-2, untied")
def gpt2_untied():
    return trained(known.gpt2()), known.tokens(5), True, sum(
        (flat("centred", 24), attention(3, 8, 2), hidden(96, 96)), Counter())


@network("GPT-2, eager attention, untied")
def gpt2_eager():
    return trained(known.gpt2(attn_implementation="eager")), known.tokens(5), True, sum(
        (flat("centred", 24), attention(3, 8, 2), hidden(96, 96)), Counter())


@network("LLaMA with grouped queries")
def llama():
    # RMSNorms: any rotation. 2 key heads with 3 query heads each. Rotary positions turn the 4 pairs of channels of queries and
    # keys, so each pair may be rotated, in a key head and all its query heads alike. The values of a key head have one map,
    # which all its query heads' columns of o_proj read. SwiGLU multiplies two hidden units: that of
    # up_proj and the columns of down_proj may change sign, the gate's may not.
    return trained(known.llama(2)), known.tokens(5), False, LLAMA + rotations(8, 2, 4)


@network("LLaMA, eager attention")
def llama_eager():
    return trained(known.llama(2, attn_implementation="eager")), known.tokens(5), False, LLAMA + rotations(8, 2, 4)


@network("LLaMA, tied")
def llama_tied():
    return trained(known.llama(6, tie_word_embeddings=True)), known.tokens(5), False, sum(
        (flat("permutation", 48), Counter({("permutation", 6, 0): 2, ("orthogonal", 8, 6): 12}), rotations(8, 6, 12),
         flat("signed", 40, 40)), Counter())


@network("LLaMA with one key head")
def llama_one():
    # one key head is not a group, so its maps are not within another
    return trained(known.llama(1)), known.tokens(5), False, sum(
        (flat("orthogonal", 48, 8, 8), Counter({("permutation", 6, 0): 2}), rotations(8, 0, 2), flat("signed", 40, 40)), Counter())


@network("Qwen2")
def qwen2():
    # as LLaMA; queries, keys and values have biases, which are rotated along
    net = known.transformer("Qwen2ForCausalLM", "Qwen2Config", vocab_size=known.VOCAB, hidden_size=48, intermediate_size=40,
                            num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=16,
                            use_cache=False)
    return trained(net), known.tokens(5), False, LLAMA + rotations(8, 2, 4)


@network("Qwen3")
def qwen3():
    # norms with a gain per channel read queries and keys before their rotary positions: a rotation would mix the gains of a
    # pair, but its sign may change
    net, example, _ = known.qwen3()
    return trained(net), example, False, LLAMA + Counter({("half-turn", 8, 2): 4})


@network("Gemma, untied")
def gemma():
    # the gains of its norms are 1 + w; one key head
    net = known.transformer("GemmaForCausalLM", "GemmaConfig", vocab_size=known.VOCAB, hidden_size=48, intermediate_size=40,
                            num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=1, head_dim=8,
                            max_position_embeddings=16, use_cache=False)
    return trained(net), known.tokens(5), True, sum(
        (flat("orthogonal", 48, 8, 8), Counter({("permutation", 6, 0): 2}), rotations(8, 0, 2), flat("signed", 40, 40)), Counter())


@network("Qwen3, norms of queries and keys without gains")
def qwen3_plain():
    # such norms keep the length of a pair
    net, example, _ = known.qwen3()
    for layer in net.model.layers:
        layer.self_attn.q_norm = layer.self_attn.k_norm = nn.RMSNorm(8, elementwise_affine=False)
    return trained(net), example, False, LLAMA + rotations(8, 2, 4)


@network("GPT-NeoX")
def gpt_neox():
    # Rotary positions turn the first 4 of 16 channels of queries and keys, in pairs. The other 12 have one orthogonal
    # map. Queries, keys and values are outputs of one layer.
    net, example, _ = known.gpt_neox()
    return trained(net), example, False, sum(
        (flat("centred", 48), Counter({("permutation", 3, 0): 2, ("orthogonal", 12, 3): 6, ("orthogonal", 16, 3): 6}),
         rotations(4, 3, 6), hidden(40, 40)), Counter())


@network("GPT-J")
def gpt_j():
    # The pairs of GPT-J are neighbours: 2 of 8 channels, so 2 rotations in each of 3 heads. The head has a bias, and the
    # stream one LayerNorm a layer.
    net = known.transformer("GPTJForCausalLM", "GPTJConfig", vocab_size=known.VOCAB, n_embd=24, n_layer=2, n_head=3, n_inner=40,
                            n_positions=16, rotary_dim=4, tie_word_embeddings=False, use_cache=False)
    return trained(net), known.tokens(5), False, sum(
        (flat("centred", 24), Counter({("permutation", 3, 0): 2, ("orthogonal", 4, 3): 6, ("orthogonal", 8, 3): 6}),
         rotations(2, 3, 12), hidden(40, 40)), Counter())


@network("BERT")
def bert():
    # post-norm: what a norm multiplies by its gain is both read and added to the stream
    net, example, _ = known.bert_mlm()
    return trained(net), example, False, sum((flat("permutation", 24), attention(3, 8, 2), hidden(40, 40)), Counter())


@network("CLIP's images")
def clip():
    # pre_layrnorm writes the stream
    net, example, _ = known.clip()
    return trained(net), example, False, sum((flat("permutation", 24), attention(3, 8, 2), hidden(40, 40)), Counter())


@network("Swin")
def swin():
    # A norm after the patches writes the stream of stage 1. The reduction writes that of stage 2, after a norm over four
    # neighbours, whose gain goes into the reduction.
    net, example, _ = known.swin_small()
    return trained(net), example, False, sum((
        flat("permutation", 12), flat("centred", 24), attention(3, 4, 2), attention(6, 4, 2), hidden(48, 48, 96, 96)),
        Counter())


@network("ConvNeXt")
def convnext():
    # depthwise convolutions read the channels of a stream one by one
    net, example, counts = known.convnext_small()
    return trained(net), example, False, Counter({("permutation", *k): n for k, n in counts.items()})


@network("T5, tied")
def t5_tied():
    return t5_net(), T5_EXAMPLE, False, t5_counts("permutation")


@network("T5, untied")
def t5():
    # encoder and decoder have one stream, as they share the embedding
    return t5_net(), T5_EXAMPLE, True, t5_counts("orthogonal")


def t5_net():
    return trained(known.t5()[0])


def T5_EXAMPLE(n, seed=0):
    return {"input_ids": known.tokens(5)(n, seed), "decoder_input_ids": known.tokens(4)(n, seed + 1)}


def t5_counts(stream):
    return sum((flat(stream, 24), Counter({("permutation", 3, 0): 4, ("orthogonal", 8, 3): 36}), hidden(40, 40, 40, 40)),
               Counter())


@network("max pooling, and two convolutions in a row")
def pooled():
    # a maximum is taken of each channel by itself; nothing but products stands between the last two layers
    net = nn.Sequential(nn.Conv2d(3, 6, 3), nn.MaxPool2d(2), nn.Conv2d(6, 8, 1), nn.Conv2d(8, 5, 1), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten())
    return trained(net), known.images(8), False, flat("permutation", 6) + flat("orthogonal", 8)


@network("tanh and ReLU")
def odd():
    # tanh(-x) = -tanh(x); nothing stands between the last two layers
    net = nn.Sequential(nn.Linear(7, 6), nn.Tanh(), nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4), nn.Linear(4, 5))
    return trained(net), vectors(7), False, flat("signed", 6) + flat("permutation", 8) + flat("orthogonal", 4)


class Scaled(nn.Module):
    """A layer with RMSNorm and LayerScale on a stream that linear layers write and read."""

    def __init__(self, width=12):
        super().__init__()
        self.embed, self.norm, self.last = nn.Linear(7, width), nn.RMSNorm(width), nn.RMSNorm(width)
        self.up, self.down, self.head = nn.Linear(width, 9), nn.Linear(9, width), nn.Linear(width, 6)
        self.out = nn.Linear(6, 5)
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = self.embed(x)
        x = x + self.gamma * self.down(nn.functional.gelu(self.up(self.norm(x))))
        return self.out(self.head(self.last(x)))


@network("RMSNorm and LayerScale")
def scaled():
    return trained(Scaled()), vectors(7), False, flat("orthogonal", 12, 6) + hidden(9)


class Gated(nn.Module):
    """A gated layer, hidden(m, x), and two layers with nothing between them, whose 4 units make the network canonical."""

    def __init__(self, hidden, **layers):
        super().__init__()
        self.hidden, self.last = hidden, nn.Linear(4, 5)
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.last(self.hidden(self, x))


F, L = nn.functional, nn.Linear


def fused(m, x):
    gate, up = m.gate_up(x).chunk(2, -1)
    return m.down(up * F.silu(gate))


def swiglu():
    return Gated(fused, gate_up=L(7, 18, False), down=L(9, 4, False))


def geglu(m, x):
    up, gate = m.up(x).reshape(-1, 2, 9).unbind(1)
    return m.down(m.drop(F.gelu(gate) * torch.tanh(up)))


def channels(m, x):
    # a convolution, without a bias in the gate; the product is read by an einsum
    h = F.sigmoid(m.gate(x[:, None])) * -m.up(x[:, None])
    return torch.einsum("ncl,oc->no", h, m.down)


def bilinear(m, x):
    # one factor may change sign, and with it the columns that read the product
    return m.down(m.gate(x) * m.up(x))


def two(m, x):
    gate = F.silu(m.gate(x))
    return m.down(gate * m.up(x)) + m.skip(gate * m.also(x))


def twice(m, x):
    return m.down(F.silu(m.gate(x)) * F.silu(m.up(x)))


def again(m, x):
    h = F.silu(m.gate(x)) * m.up(x)
    return m.down(h) + m.skip(F.silu(h))


def shifted(m, x):
    return m.down(F.silu(m.gate(x)) * m.up(x) + 1)


def mixed(m, x):
    # the products change sign, what skip reads does not: moments of both would cancel
    gate = F.silu(m.gate(x))
    return m.down(gate * m.up(x)) + m.skip(gate)


GATES = {
    "a fused SwiGLU, as in Phi-3": ("signed", fused, dict(gate_up=L(7, 18, False), down=L(9, 4, False))),
    "a fused GEGLU with tanh": ("signed", geglu, dict(up=L(7, 18), down=L(9, 4), drop=nn.Dropout(.1))),
    "GLU": ("signed", lambda m, x: m.down(F.glu(m.up(x))), dict(up=L(7, 18), down=L(9, 4))),
    "gated convolutions": ("signed", channels, dict(gate=nn.Conv1d(1, 9, 3, bias=False), up=nn.Conv1d(1, 9, 3),
                                                    down=nn.Parameter(torch.ones(4, 9)))),
    "a product of two layers": ("signed", bilinear, dict(gate=L(7, 9), down=L(9, 4), up=L(7, 9))),
    "two products of one gate": ("signed", two, dict(gate=L(7, 9), up=L(7, 9), also=L(7, 9), down=L(9, 4), skip=L(9, 4))),
    "SiLU on both sides": ("permutation", twice, dict(gate=L(7, 9), up=L(7, 9), down=L(9, 4))),
    "a product that an activation reads too": ("permutation", again, dict(gate=L(7, 9), up=L(7, 9), down=L(9, 4),
                                                                         skip=L(9, 4))),
    "a product plus one": ("permutation", shifted, dict(gate=L(7, 9), up=L(7, 9), down=L(9, 4))),
    "a gate that a layer reads too": ("permutation", mixed, dict(gate=L(7, 9), up=L(7, 9), down=L(9, 4), skip=L(9, 4))),
}
for label, (allows, hidden_of, layers) in GATES.items():
    NETS[label] = lambda allows=allows, f=hidden_of, layers=layers: (
        trained(Gated(f, **layers)), vectors(7), False, flat(allows, 9) + flat("orthogonal", 4))
