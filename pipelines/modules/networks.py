# SPDX-License-Identifier: Apache-2.0
"""Networks that graphs cannot express: a small vision transformer and a ConvNeXt with GroupNorm, which map images
(N,3,32,32) to logits (N,10), and a GPT-2 and a LLaMA, which map bytes (N,T) to the logits (N,256,T) of the next ones."""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, width=64, depth=4, heads=4, patch=8):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.position = nn.Parameter(.02 * torch.randn(1, (32 // patch) ** 2, width))
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return self.head(self.norm(self.layers(x)).mean(1))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.GroupNorm(4, width)
        self.mlp = nn.Sequential(nn.Conv2d(width, 4 * width, 1), nn.GELU(), nn.Conv2d(4 * width, width, 1))

    def forward(self, x):
        return x + self.mlp(self.norm(self.depthwise(x)))


class ConvNeXt(nn.Module):
    def __init__(self, widths=(32, 64), depth=2):
        super().__init__()
        layers, before = [nn.Conv2d(3, widths[0], 4, 4)], widths[0]
        for width in widths:
            if width != before:
                layers += [nn.GroupNorm(4, before), nn.Conv2d(before, width, 2, 2)]
            layers += [Block(width) for _ in range(depth)]
            before = width
        self.layers = nn.Sequential(*layers)
        self.norm, self.head = nn.GroupNorm(4, before), nn.Linear(before, 10)

    def forward(self, x):
        return self.head(self.norm(self.layers(x)).mean((2, 3)))


class Language(nn.Module):
    """A language model of Hugging Face, for at most 128 bytes. Requires transformers."""

    def __init__(self, model, **settings):
        super().__init__()
        config = getattr(transformers(), model + "Config")(
            vocab_size=256, bos_token_id=None, eos_token_id=None, use_cache=False, **settings)
        self.lm = transformers().AutoModelForCausalLM.from_config(config)

    def forward(self, x):
        return self.lm(x).logits.transpose(1, 2)


def transformers():
    import transformers  # only language models need it
    return transformers


def gpt2():
    return Language("GPT2", n_positions=128, n_embd=64, n_layer=4, n_head=4, embd_pdrop=0., resid_pdrop=0., attn_pdrop=0.)


def llama():
    return Language("Llama", max_position_embeddings=128, hidden_size=64, intermediate_size=176, num_hidden_layers=4,
                    num_attention_heads=4, num_key_value_heads=2)


NETWORKS = {"vit": ViT, "convnext": ConvNeXt, "gpt2": gpt2, "llama": llama}
LANGUAGE = "gpt2", "llama"
