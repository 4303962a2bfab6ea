# SPDX-License-Identifier: Apache-2.0
"""81 kinds of networks that public reports name: torchvision, transformers, repositories for CIFAR-10, and the small
modules that people write themselves. Each function of KINDS returns (net, example) as in expected_groups. TIMM and
TORCHVISION name further models, which `derived_groups.py timm` and `derived_groups.py torchvision` try."""
import torch
from torch import nn
from torch.nn import functional as F

import expected_groups
import small_image_nets
from expected_groups import VOCAB, images, sequences, tokens, transformer
from hostile_modules import Apply, parameter

KINDS = {}


def kind(name):
    def add(function):
        KINDS[name] = lambda: (lambda net, example: (net.eval(), example))(*function())
        return function
    return add


def vectors(width):
    return lambda n, seed=0: torch.randn(n, width, generator=torch.Generator().manual_seed(seed))


def arguments(**examples):
    return lambda n, seed=0: {k: f(n, seed) for k, f in examples.items()}


def mlp(*widths, act=nn.ReLU):
    layers = []
    for i, o in zip(widths, widths[1:]):
        layers += [nn.Linear(i, o), act()]
    return nn.Sequential(*layers[:-1])


def unit(i, o, k=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(o), act())


def pooled(*layers, width, classes=10):
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


# ---- torchvision: 22 -------------------------------------------------------------------------------------------------

for _name, _size, _settings in (("alexnet", 64, {}), ("vgg11", 32, {}), ("vgg16_bn", 32, {}), ("resnet50", 64, {}),
                                ("resnext50_32x4d", 64, {}), ("wide_resnet50_2", 64, {}), ("squeezenet1_1", 64, {}),
                                ("densenet121", 64, {}), ("googlenet", 64, {"init_weights": False}),
                                ("inception_v3", 96, {"init_weights": False}), ("mobilenet_v2", 64,
                                                                                {}), ("mobilenet_v3_large", 64, {}),
                                ("mnasnet1_0", 64, {}), ("shufflenet_v2_x1_0", 64, {}), ("efficientnet_b0", 64, {}),
                                ("efficientnet_v2_s", 64, {}), ("regnet_y_400mf", 64, {}), ("convnext_tiny", 64, {}),
                                ("vit_b_16", 32, {"image_size": 32}), ("swin_t", 64, {}), ("swin_v2_t", 64,
                                                                                           {}), ("maxvit_t", 224, {})):
    kind("torchvision " + _name)(lambda n=_name, s=_size, o=_settings: expected_groups.torchvision(n, s, **o))

# ---- transformers: 16 ------------------------------------------------------------------------------------------------

for _name in ("GPT2LMHeadModel", "BertForMaskedLM", "BertForSequenceClassification",
              "CLIPVisionModelWithProjection, image_embeds", "LlamaForCausalLM, grouped queries", "Qwen3ForCausalLM",
              "GPTNeoXForCausalLM", "T5ForConditionalGeneration, logits"):
    kind("transformers " + _name)(lambda n="transformers " + _name: expected_groups.NETS[n]()[:2])

SMALL = {"vocab_size": VOCAB, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}


@kind("transformers DistilBertForSequenceClassification")
def distilbert():
    return transformer("DistilBertForSequenceClassification", "DistilBertConfig", vocab_size=VOCAB, dim=24, n_layers=2,
                       n_heads=3, hidden_dim=40, max_position_embeddings=16), tokens(5)


@kind("transformers RobertaForMaskedLM")
def roberta():
    return transformer("RobertaForMaskedLM", "RobertaConfig", **SMALL, intermediate_size=40,
                       max_position_embeddings=16), tokens(5)


@kind("transformers OPTForCausalLM")
def opt():
    return transformer("OPTForCausalLM",
                       "OPTConfig",
                       **SMALL,
                       ffn_dim=40,
                       max_position_embeddings=16,
                       word_embed_proj_dim=24,
                       use_cache=False), tokens(5)


@kind("transformers BloomForCausalLM")
def bloom():
    return transformer("BloomForCausalLM", "BloomConfig", vocab_size=VOCAB, hidden_size=24, n_layer=2, n_head=3,
                       use_cache=False), tokens(5)


@kind("transformers ViTForImageClassification")
def hf_vit():
    return transformer("ViTForImageClassification",
                       "ViTConfig",
                       hidden_size=24,
                       num_hidden_layers=2,
                       num_attention_heads=3,
                       intermediate_size=40,
                       image_size=16,
                       patch_size=8), images(16)


@kind("transformers MambaForCausalLM")
def mamba():
    return transformer("MambaForCausalLM",
                       "MambaConfig",
                       vocab_size=VOCAB,
                       hidden_size=12,
                       state_size=4,
                       num_hidden_layers=2,
                       use_cache=False), tokens(5)


@kind("transformers WhisperForAudioClassification")
def whisper():
    return transformer("WhisperForAudioClassification", "WhisperConfig", vocab_size=VOCAB, d_model=24, encoder_layers=2,
                       encoder_attention_heads=3, encoder_ffn_dim=40, decoder_layers=2, decoder_attention_heads=3,
                       max_source_positions=8, num_mel_bins=6, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                       decoder_start_token_id=1), lambda n, seed=0: torch.randn(n, 6, 16)


@kind("transformers MixtralForCausalLM")
def mixtral():
    return transformer("MixtralForCausalLM",
                       "MixtralConfig",
                       **SMALL,
                       num_key_value_heads=3,
                       intermediate_size=40,
                       num_local_experts=4,
                       num_experts_per_tok=2,
                       max_position_embeddings=16,
                       use_cache=False), tokens(5)


# ---- image networks of repositories for CIFAR-10: 16 -----------------------------------------------------------------

@kind("LeNet")
def lenet():
    return nn.Sequential(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), mlp(400, 120, 84, 10)), images(32)


class Basic(nn.Module):
    """A residual block: shortcut "A" pads channels with zeros, "B" is a convolution; se adds squeeze and excitation."""

    def __init__(self, i, o, stride, shortcut="B", se=False, act=F.relu):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.change, self.stride, self.extra, self.act = stride > 1 or i != o, stride, o - i, act
        if self.change and shortcut == "B":
            self.shortcut = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))
        elif self.change:
            self.shortcut = self.pad
        else:
            self.shortcut = nn.Identity()
        self.se = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(o, o // 4, 1), nn.ReLU(), nn.Conv2d(o // 4, o, 1),
                                nn.Sigmoid()) if se else None

    def pad(self, x):
        return F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, self.extra // 2, self.extra - self.extra // 2))

    def forward(self, x):
        y = self.bn2(self.conv2(self.act(self.bn1(self.conv1(x)))))
        y = y * self.se(y) if self.se is not None else y
        return self.act(y + self.shortcut(x))


def residual(widths, depth=1, **settings):
    layers, i = [unit(3, widths[0])], widths[0]
    for stage, o in enumerate(widths):
        for j in range(depth):
            layers.append(Basic(i, o, 2 if stage and not j else 1, **settings))
            i = o
    return pooled(*layers, width=i), images(32)


kind("ResNet-20 with option A")(lambda: residual([16, 32, 64], 3, shortcut="A"))
kind("ResNet-18 for CIFAR")(lambda: residual([16, 32, 64, 128], 2))
kind("WideResNet")(lambda: residual([32, 64, 128], 2))
kind("SENet-18")(lambda: residual([16, 32, 64], 2, se=True))
kind("ResNet with LeakyReLU")(lambda: residual([16, 32], 1, act=F.leaky_relu))
kind("ResNet-9")(lambda: (small_image_nets.resnet9(), images(32)))
kind("SimpleNet")(lambda: (small_image_nets.SimpleNet(), images(32)))
kind("PreActResNet-18")(lambda: (small_image_nets.preactresnet18(), images(32)))


@kind("MobileNet")
def mobilenet():
    return pooled(unit(3, 8), unit(8, 8, groups=8), unit(8, 16, 1), unit(16, 16, stride=2, groups=16), unit(16, 24, 1),
                  width=24), images(16)


class Shuffle(nn.Module):
    """ShuffleNet's unit: grouped convolutions with a channel shuffle between them."""

    def __init__(self, width, groups):
        super().__init__()
        self.a, self.groups = unit(width, width, 1, groups=groups), groups
        self.b, self.c = unit(width, width, groups=width), unit(width, width, 1, groups=groups)

    def forward(self, x):
        n, c, h, w = x.shape
        y = self.a(x).view(n, self.groups, c // self.groups, h, w).permute(0, 2, 1, 3, 4).reshape(n, c, h, w)
        return F.relu(x + self.c(self.b(y)))


kind("ShuffleNet")(lambda: (pooled(unit(3, 12), Shuffle(12, 3), Shuffle(12, 3), width=12), images(16)))


class DualPath(nn.Module):
    """DPN's block: the first channels are added, the others appended."""

    def __init__(self, i, keep, grow):
        super().__init__()
        self.keep, self.body = keep, nn.Sequential(unit(i, 16, 1), unit(16, 16, groups=4), unit(16, keep + grow, 1))

    def forward(self, x):
        y = self.body(x)
        return torch.cat([x[:, :self.keep] + y[:, :self.keep], x[:, self.keep:], y[:, self.keep:]], 1)


kind("dual path network")(lambda: (pooled(unit(3, 12), DualPath(12, 8, 4), DualPath(16, 8, 4), width=20), images(16)))
kind("ResNeXt")(lambda:
                (pooled(unit(3, 16), unit(16, 16, 1), unit(16, 16, groups=4), unit(16, 24, 1), width=24), images(16)))
kind("network in network")(lambda: (nn.Sequential(unit(3, 16), unit(16, 12, 1), nn.MaxPool2d(2), unit(12, 10, 1),
                                                  nn.AdaptiveAvgPool2d(1), nn.Flatten()), images(16)))


@kind("ConvMixer")
def convmixer():
    def block():
        return nn.Sequential(small_image_nets.Residual(nn.Sequential(nn.Conv2d(8, 8, 5, padding=2, groups=8), nn.GELU(),
                                                                     nn.BatchNorm2d(8))), nn.Conv2d(8, 8, 1), nn.GELU())
    return pooled(nn.Conv2d(3, 8, 4, 4), block(), block(), width=8), images(16)


@kind("ResNet with group norm and weight standardization")
def big_transfer():
    class Standardized(nn.Conv2d):
        def forward(self, x):
            w = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
            return F.conv2d(x, w / (w.std((1, 2, 3), keepdim=True) + 1e-5), self.bias, padding=1)
    body = nn.Sequential(nn.GroupNorm(4, 16), nn.ReLU(), Standardized(16, 16, 3), nn.GroupNorm(4, 16), nn.ReLU(),
                         Standardized(16, 16, 3))
    return pooled(Standardized(3, 16, 3), small_image_nets.Residual(body), nn.GroupNorm(4, 16), nn.ReLU(),
                  width=16), images(16)


# ---- small modules: 27 -----------------------------------------------------------------------------------------------

kind("MLP")(lambda: (mlp(7, 16, 12, 5), vectors(7)))
kind("MLP with batch norm, dropout and tanh")(lambda: (nn.Sequential(
    nn.Linear(7, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Dropout(.5), nn.Linear(16, 5)), vectors(7)))
kind("convolutional autoencoder")(
    lambda: (nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 12, 3, 2, 1), nn.ReLU(
    ), nn.ConvTranspose2d(12, 8, 2, 2), nn.ReLU(), nn.ConvTranspose2d(8, 3, 2, 2), nn.Sigmoid()), images(16)))
kind("GAN generator")(lambda: (nn.Sequential(nn.Unflatten(1, (7, 1, 1)), nn.ConvTranspose2d(7, 16, 4), nn.BatchNorm2d(
    16), nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1),
                                             nn.Tanh()), vectors(7)))
kind("GAN discriminator with spectral norm")(
    lambda: (nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 8, 4, 2, 1)), nn.LeakyReLU(.2),
                           nn.utils.parametrizations.spectral_norm(nn.Conv2d(8, 12, 4, 2, 1)), nn.LeakyReLU(.2),
                           nn.Flatten(), nn.Linear(192, 1)), images(16)))


class UNet(nn.Module):
    def __init__(self, norm=lambda c: nn.BatchNorm2d(c), time=False):
        super().__init__()
        def two(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), norm(o), nn.SiLU(), nn.Conv2d(o, o, 3, padding=1),
                                 norm(o), nn.SiLU())
        self.down1, self.down2, self.up1 = two(3, 8), two(8, 16), two(24, 8)
        self.up, self.last = nn.ConvTranspose2d(16, 16, 2, 2), nn.Conv2d(8, 3, 1)
        self.time = mlp(6, 12, 16, act=nn.SiLU) if time else None

    def forward(self, x, time=None):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        b = b if self.time is None else b + self.time(time)[..., None, None]
        return self.last(self.up1(torch.cat([self.up(b), a], 1)))


kind("U-Net")(lambda: (UNet(), images(16)))
kind("diffusion U-Net with group norm and time")(lambda: (
    UNet(lambda c: nn.GroupNorm(4, c), True), arguments(x=images(16), time=vectors(6))))


@kind("variational autoencoder, mean")
def vae():
    def forward(m, x):
        mean, variance = m.encoder(x).chunk(2, -1)
        return m.decoder(mean), variance
    return Apply(forward, encoder=mlp(12, 16, 8), decoder=mlp(4, 16, 12)), vectors(12)


@kind("PointNet")
def pointnet():
    def forward(m, x):  # (N, points, 3), turned by a matrix that depends on the points
        turn = m.turn(x.mT).amax(-1)
        turn = m.matrix(turn).view(-1, 3, 3) + torch.eye(3, dtype=x.dtype)
        return m.head(m.points((x @ turn).mT).amax(-1))

    def body(*c):
        return nn.Sequential(
            *[layer for i, o in zip(c, c[1:]) for layer in (nn.Conv1d(i, o, 1), nn.BatchNorm1d(o), nn.ReLU())])

    return Apply(forward, turn=body(3, 8, 12), matrix=nn.Linear(12, 9), points=body(3, 8, 16),
                 head=mlp(16, 8, 5)), sequences(20, 3)


class Mixer(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.over_tokens, self.over_channels = mlp(length, 20, length, act=nn.GELU), mlp(width, 32, width, act=nn.GELU)

    def forward(self, x):
        x = x + self.over_tokens(self.norm1(x).mT).mT
        return x + self.over_channels(self.norm2(x))


class Patches(nn.Module):
    def __init__(self, width, *blocks):
        super().__init__()
        self.patch, self.blocks, self.head = nn.Conv2d(3, width, 4, 4), nn.Sequential(*blocks), nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.blocks(self.patch(x).flatten(2).mT).mean(1))


kind("MLP-Mixer")(lambda: (Patches(12, Mixer(12, 16), Mixer(12, 16)), images(16)))


class Gated(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 32), nn.Linear(16, width)
        self.inner, self.space = nn.LayerNorm(16), nn.Conv1d(length, length, 1)

    def forward(self, x):
        u, v = F.gelu(self.up(self.norm(x))).chunk(2, -1)
        return x + self.down(u * self.space(self.inner(v)))


kind("gMLP")(lambda: (Patches(12, Gated(12, 16), Gated(12, 16)), images(16)))


@kind("NeRF")
def nerf():
    def forward(m, x):
        x = torch.cat([x, *[f(x * 2 ** i) for i in range(3) for f in (torch.sin, torch.cos)]], -1)
        y = m.second(torch.cat([m.first(x), x], -1))
        return torch.cat([torch.sigmoid(m.colour(y)), F.softplus(m.density(y))], -1)

    return Apply(forward,
                 first=nn.Sequential(mlp(21, 16, 16), nn.ReLU()),
                 second=nn.Sequential(mlp(37, 16, 16), nn.ReLU()),
                 colour=nn.Linear(16, 3),
                 density=nn.Linear(16, 1)), vectors(3)


kind("SIREN")(lambda: (Apply(lambda m, x: m.c(torch.sin(30 * m.b(torch.sin(30 * m.a(x))))), a=nn.Linear(2, 16),
                             b=nn.Linear(16, 16), c=nn.Linear(16, 3)), vectors(2)))


class Causal(nn.Module):
    """A block of a temporal convolutional network, or WaveNet's gated block with its skip output."""

    def __init__(self, width, dilation, gate):
        super().__init__()
        self.pad, self.gate = 2 * dilation, gate
        self.conv = nn.Conv1d(width, width * (1 + gate), 3, dilation=dilation)
        self.out = nn.Conv1d(width, width, 1)
        self.skip = nn.Conv1d(width, 10, 1) if gate else None

    def forward(self, x):
        y = self.conv(F.pad(x, (self.pad, 0)))
        if not self.gate:
            return x + self.out(F.relu(y))
        a, b = y.chunk(2, 1)
        y = torch.tanh(a) * torch.sigmoid(b)
        return x + self.out(y), self.skip(y)


kind("temporal convolutional network")(
    lambda: (nn.Sequential(nn.Conv1d(4, 8, 1), Causal(8, 1, False), Causal(8, 2, False), nn.AdaptiveAvgPool1d(1),
                           nn.Flatten(), nn.Linear(8, 5)), lambda n, seed=0: torch.randn(n, 4, 12)))


@kind("WaveNet")
def wavenet():
    def forward(m, x):
        x, skips = m.first(x), 0
        for block in m.blocks:
            x, skip = block(x)
            skips = skips + skip
        return m.last(F.relu(skips))
    return Apply(forward, first=nn.Conv1d(1, 8, 1), blocks=nn.ModuleList(Causal(8, 2 ** i, True) for i in range(3)),
                 last=nn.Conv1d(10, 6, 1)), lambda n, seed=0: torch.randn(n, 1, 12)


kind("LSTM over words")(lambda: (Apply(lambda m, x: m.head(m.rnn(m.words(x))[0][:, -1]), words=nn.Embedding(VOCAB, 8),
                                       rnn=nn.LSTM(8, 12, 2, batch_first=True), head=nn.Linear(12, 5)), tokens(6)))
kind("bidirectional GRU")(lambda: (Apply(lambda m, x: m.head(m.rnn(x)[0].mean(1)), rnn=nn.GRU(
    7, 8, batch_first=True, bidirectional=True), head=nn.Linear(16, 5)), sequences(6, 7)))
kind("convolutions over words")(
    lambda: (Apply(lambda m, x: m.head(torch.cat([F.relu(c(m.words(x).mT)).amax(-1) for c in m.convs], -1)),
                   words=nn.Embedding(VOCAB, 8),
                   convs=nn.ModuleList(nn.Conv1d(8, 6, k) for k in (2, 3, 4)),
                   head=nn.Linear(18, 5)), tokens(8)))
kind("nn.TransformerEncoder")(
    lambda: (Apply(lambda m, x: m.head(m.body(m.words(x) + m.positions).mean(1)),
                   words=nn.Embedding(VOCAB, 24),
                   positions=parameter(6, 24),
                   body=nn.TransformerEncoder(nn.TransformerEncoderLayer(24, 3, 40, batch_first=True), 2),
                   head=nn.Linear(24, 5)), tokens(6)))
kind("nn.Transformer")(lambda: (Apply(
    lambda m, source, target: m.head(m.body(m.words(source), m.words(target))), words=nn.Embedding(VOCAB, 24),
    body=nn.Transformer(24, 3, 2, 2, 40, batch_first=True), head=nn.Linear(24, 5)),
    arguments(source=tokens(6), target=tokens(4))))


@kind("DETR")
def detr():
    def forward(m, x):
        y = m.reduce(m.body(x))
        row, column = (p[None].expand(4, 4, -1) if i else p[:, None].expand(4, 4, -1)
                       for i, p in enumerate((m.rows, m.columns)))
        y = y.flatten(2).mT + torch.cat([row, column], -1).flatten(0, 1)
        y = m.transformer(y, m.queries.expand(len(x), -1, -1))
        return m.classes(y), torch.sigmoid(m.boxes(y))
    return Apply(forward,
                 body=nn.Sequential(unit(3, 8, stride=2), unit(8, 16, stride=2)),
                 reduce=nn.Conv2d(16, 24, 1),
                 rows=parameter(4, 12),
                 columns=parameter(4, 12),
                 queries=parameter(1, 7, 24),
                 classes=nn.Linear(24, 11),
                 transformer=nn.Transformer(24, 3, 2, 2, 40, batch_first=True),
                 boxes=mlp(24, 16, 4)), images(16)


@kind("selective state space in a loop")
def state_space():
    def forward(m, x):
        x = m.first(x)
        u, z = m.inner(x).chunk(2, -1)
        u = F.silu(m.conv(F.pad(u.mT, (2, 0)))).mT
        step, b, c = m.select(u).split([2, 4, 4], -1)
        step, h, ys = F.softplus(m.step(step)), x.new_zeros(x.shape[0], 16, 4), []
        for t in range(5):
            h = torch.exp(-step[:, t, :, None] * m.log_a.exp()) * h + (step[:, t] * u[:, t])[..., None] * b[:, t, None]
            ys.append((h * c[:, t, None]).sum(-1))
        y = (torch.stack(ys, 1) + u * m.d) * F.silu(z)
        return m.last(m.norm(x + m.out(y)))
    return Apply(forward,
                 first=nn.Linear(7, 8),
                 inner=nn.Linear(8, 32),
                 conv=nn.Conv1d(16, 16, 3, groups=16),
                 select=nn.Linear(16, 10),
                 step=nn.Linear(2, 16),
                 log_a=parameter(16, 4),
                 d=parameter(16),
                 out=nn.Linear(16, 8),
                 norm=nn.LayerNorm(8),
                 last=nn.Linear(8, 5)), sequences(5, 7)


@kind("graph convolution and graph attention")
def graphs():
    def forward(m, x, edges):
        x = F.relu(edges.softmax(-1) @ m.first(x))
        h = m.heads(x).unflatten(-1, (3, 4)).transpose(1, 2)
        scores = F.leaky_relu((h * m.left).sum(-1)[..., None] + (h * m.right).sum(-1)[:, :, None], .2)
        return m.last(F.elu(((scores + edges[:, None]).softmax(-1) @ h).transpose(1, 2).flatten(2)))
    return Apply(forward, first=nn.Linear(7, 8), heads=nn.Linear(8, 12, bias=False), left=parameter(3, 1, 4),
                 right=parameter(3, 1, 4), last=nn.Linear(12, 5)), arguments(x=sequences(6, 7), edges=sequences(6, 6))


@kind("recommendation by products of embeddings")
def recommendation():
    def forward(m, numbers, categories):
        e = torch.stack([m.bottom(numbers), *[t(categories[:, i]) for i, t in enumerate(m.tables)]], 1)
        i, j = torch.triu_indices(4, 4, 1)
        return m.top(torch.cat([e[:, 0], (e @ e.mT)[:, i, j]], 1))
    return Apply(forward, bottom=mlp(5, 12, 8), tables=nn.ModuleList(nn.Embedding(VOCAB, 8) for _ in range(3)),
                 top=mlp(14, 12, 1)), arguments(numbers=vectors(5), categories=tokens(3))


@kind("coupling flow")
def flow():
    def forward(m, x):
        total = 0
        for f in m.couplings:
            a, b = x.chunk(2, -1)
            scale, shift = f(a).chunk(2, -1)
            x, total = torch.cat([b * torch.tanh(scale).exp() + shift, a], -1), total + torch.tanh(scale).sum(-1)
        return x, total
    return Apply(forward, couplings=nn.ModuleList(mlp(3, 16, 6) for _ in range(3))), vectors(6)


class Masked(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("mask", (torch.arange(o)[:, None] % 6 >= torch.arange(i) % 6).float())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


kind("autoregressive MLP with masks")(
    lambda: (nn.Sequential(Masked(6, 18), nn.ReLU(), Masked(18, 12), nn.ReLU(), Masked(12, 6)), vectors(6)))


@kind("actor and critic for video")
def actor_critic():
    def forward(m, x):
        y = m.body(x)
        value, advantage = m.value(y), m.advantage(y)
        return m.policy(y).log_softmax(-1), value + advantage - advantage.mean(-1, keepdim=True)

    return Apply(forward,
                 body=nn.Sequential(nn.Conv3d(3, 8, 3, 2, 1), nn.BatchNorm3d(8), nn.ReLU(), nn.Conv3d(8, 12, 3, 2, 1),
                                    nn.ReLU(), nn.Flatten(), nn.Linear(48, 16), nn.ReLU()),
                 policy=nn.Linear(16, 4),
                 value=mlp(16, 8, 1),
                 advantage=mlp(16, 8, 4)), lambda n, seed=0: torch.randn(n, 3, 4, 8, 8)


TIMM = [
    "vit_tiny_patch16_224", "deit3_small_patch16_224", "beit_base_patch16_224", "cait_xxs24_224", "mixer_s32_224",
    "resmlp_12_224", "convmixer_768_32", "convnextv2_atto", "efficientnet_lite0", "ghostnet_100", "dla34",
    "res2net50_14w_8s", "skresnet18", "resnest14d", "levit_128s", "pvt_v2_b0", "poolformer_s12", "mobilevit_xs",
    "repvgg_a0", "xcit_nano_12_p16_224"
]
TORCHVISION = {"inception_v3": 96, "maxvit_t": 224, "squeezenet1_0": 64, "squeezenet1_1": 64}  # sizes other than 64
