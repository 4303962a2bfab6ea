# SPDX-License-Identifier: Apache-2.0
"""The permutation symmetry of public networks, derived by hand from their sources, which mcz.torch.groups must find.

Each function of NETS returns (net, example, counts):

    net      a module with random weights, in evaluation mode
    example  n -> an input with a batch of n: a tensor, or a dictionary of the arguments
    counts   Counter {(units, units of the enclosing group): number of groups}; the second is 0 for groups that no other
             group encloses. A group is within another if all its rows are within rows of that group.

and options and least, as in hostile_modules, if mcz.torch.groups must not find all of them.

The units of inputs, outputs, vocabularies and positions are fixed. A layer of one unit has no group."""
from collections import Counter
from itertools import chain

import torch
from torch import nn
from torch.nn import functional as F

NETS, FAST = {}, set()  # {name: function}, and the names that `make check` runs
VOCAB = 61


def network(name, fast=True):
    def add(function):
        NETS[name] = function
        FAST.update([name] if fast else [])
        return function
    return add


def total(*counters):
    return sum(counters, Counter())


def flat(*units):
    """Counter of groups that no group encloses."""
    return Counter((u, 0) for u in units)


def attention(heads, width, layers=1):
    """Heads, and within each head an order of queries and keys and an order of values."""
    return Counter({(heads, 0): layers, (width, heads): 2 * heads * layers})


def images(size, channels=3):
    return lambda n, seed=0: torch.randn(n, channels, size, size, generator=torch.Generator().manual_seed(seed))


def tokens(length):
    return lambda n, seed=0: torch.randint(VOCAB, (n, length), generator=torch.Generator().manual_seed(seed))


def torchvision(name, size=64, **settings):
    from torchvision import models
    return getattr(models, name)(weights=None, **settings).eval(), images(size)


# ---- torchvision -----------------------------------------------------------------------------------------------------

@network("torchvision vit_b_16", fast=False)
def vit_b_16():
    # The stream: conv_proj, class_token, pos_embedding, ln_1, ln_2, ln, in_proj's inputs, out_proj's outputs, both ends
    # of the MLPs and the head's inputs. in_proj's outputs are [3, head, 64]. Images of 32 x 32 make four patches and
    # the class token.
    return *torchvision("vit_b_16", 32, image_size=32), Counter({
        (768, 0): 1,                # stream
        (12, 0): 12,                # heads, 12 layers
        (64, 12): 12 * 12 * 2,      # order of queries and keys, order of values, in 12 heads of 12 layers
        (3072, 0): 12})             # MLP


@network("torchvision VisionTransformer, 2 layers")
def vit_small():
    from torchvision.models import VisionTransformer
    net = VisionTransformer(32, 16, num_layers=2, num_heads=3, hidden_dim=24, mlp_dim=40).eval()
    nn.init.normal_(net.heads.head.weight)
    return net, images(32), Counter({(24, 0): 1, (3, 0): 2, (8, 3): 3 * 2 * 2, (40, 0): 2})


@network("torchvision swin_t", fast=False)
def swin_t():
    # Four stages of 96, 192, 384 and 768 channels, 2, 2, 6 and 2 blocks, 3, 6, 12 and 24 heads of 32. A stage's stream:
    # the patch convolution or the reduction writes it, all blocks add to it; the four segments of the merging norm (4
    # C) and of the reduction's inputs hold its one permutation. relative_position_bias_table (169, heads) moves with
    # the heads. Shifted windows only move positions.
    return *torchvision("swin_t"), total(
        flat(96, 192, 384, 768),                                        # streams
        Counter({(384, 0): 2, (768, 0): 2, (1536, 0): 6, (3072, 0): 2}),  # MLPs: 4 C, one per block
        attention(3, 32, 2), attention(6, 32, 2), attention(12, 32, 6), attention(24, 32, 2))


@network("torchvision SwinTransformer, 2 stages")
def swin_small():
    # as above: stages of 12 and 24 channels, 2 blocks each (the second shifted), 3 and 6 heads of 4, MLPs of 48 and 96
    from torchvision.models.swin_transformer import SwinTransformer
    net = SwinTransformer([4, 4], 12, [2, 2], [3, 6], [4, 4], num_classes=10).eval()
    return net, images(40), total(flat(12, 24), Counter({(48, 0): 2, (96, 0): 2}), attention(3, 4, 2),
                                  attention(6, 4, 2))


@network("torchvision swin_v2_t", fast=False)
def swin_v2_t():
    # as swin_t; the merging norm is after the reduction (2 C); heads also move in logit_scale and in the outputs of
    # cpb_mlp, whose 512 hidden units are a group in each of 12 blocks. F.normalize has no parameters: each head keeps
    # its own order. relative_coords_table is a buffer of the state_dict, so its 2 coordinates can change places with the
    # inputs of cpb_mlp.
    return *torchvision("swin_v2_t"), total(
        flat(96, 192, 384, 768), Counter({(384, 0): 2, (768, 0): 2, (1536, 0): 6, (3072, 0): 2, (512, 0): 12, (2, 0): 12}),
        attention(3, 32, 2), attention(6, 32, 2), attention(12, 32, 6), attention(24, 32, 2))


@network("torchvision convnext_tiny", fast=False)
def convnext_tiny():
    # Stages of 96, 192, 384, 768 channels, 3, 3, 9, 3 blocks. The stream of a stage: stem or downsampling convolution,
    # depthwise convolutions (channel to channel), norms, layer_scale, the MLP's outputs. One group of 4 C per block.
    return *torchvision("convnext_tiny"), Counter({
        (96, 0): 1, (192, 0): 1,
        (384, 0): 1 + 3,        # stream of stage 3, MLPs of stage 1
        (768, 0): 1 + 3,        # stream of stage 4, MLPs of stage 2
        (1536, 0): 9, (3072, 0): 3})


@network("torchvision ConvNeXt, 2 stages")
def convnext_small():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    net = ConvNeXt([CNBlockConfig(8, 12, 2), CNBlockConfig(12, None, 1)], num_classes=10).eval()
    return net, images(32), Counter({(8, 0): 1, (12, 0): 1, (32, 0): 2, (48, 0): 1})


@network("torchvision densenet121", fast=False)
def densenet121():
    # 6 + 12 + 24 + 16 = 58 layers: conv1's 128 outputs, conv2's 32 new channels, each a segment of all later norms and
    # convolutions of its block. conv0 has 64, the transitions 128, 256 and 512.
    return *torchvision("densenet121"), Counter({
        (64, 0): 1, (32, 0): 58, (128, 0): 58 + 1, (256, 0): 1, (512, 0): 1})


@network("torchvision DenseNet, 2 blocks")
def densenet_small():
    # conv0: 8; block 1 of 2 layers: 4 * 4 = 16 and 4 each; transition: (8 + 8) / 2 = 8; block 2 of 3 layers
    from torchvision.models import DenseNet
    net = DenseNet(4, (2, 3), 8, bn_size=4, num_classes=10).eval()
    return net, images(32), Counter({(8, 0): 1 + 1, (16, 0): 5, (4, 0): 5})


def grouped(groups, inputs, outputs=None):
    """A grouped convolution: whole blocks, and in each block an order of its inputs and one of its outputs."""
    return Counter({(groups, 0): 1}) + Counter({(inputs, groups): groups}) + Counter(
                                                    {(outputs or inputs, groups): groups})


def times(count, counter):
    return Counter({k: v * count for k, v in counter.items()})


@network("torchvision regnet_x_400mf", fast=False)
def regnet_x_400mf():
    # Widths 32, 64, 160, 400; depths 1, 2, 7, 12; groups of 16 channels. All stages start with stride 2 and a
    # projection: the stem has its own group, each stage one stream. In a block a's outputs are b's inputs and b's
    # outputs are c's inputs; b has width / 16 groups.
    return *torchvision("regnet_x_400mf"), total(
        flat(32), flat(32, 64, 160, 400),                               # stem, streams
        times(1, grouped(2, 16)), times(2, grouped(4, 16)), times(7, grouped(10, 16)), times(12, grouped(25, 16)))


@network("torchvision regnet_y_400mf", fast=False)
def regnet_y_400mf():
    # Widths 48, 104, 208, 440; depths 1, 3, 6, 6; groups of 8 channels. Squeeze and excitation after b has
    # round(width_in / 4) hidden units, where width_in is the block's input: 32 | 48, 104, 104 | 104, 208 ... | 208, 440
    # ...
    return *torchvision("regnet_y_400mf"), total(
        flat(32), flat(48, 104, 208, 440),
        flat(8), flat(12, 26, 26), flat(26, *[52] * 5), flat(52, *[110] * 5),
        times(1, grouped(6, 8)), times(3, grouped(13, 8)), times(6, grouped(26, 8)), times(6, grouped(55, 8)))


@network("torchvision RegNet Y, 2 stages")
def regnet_small():
    # stem 32; widths 8 and 24, groups of 4: 2 and 6 groups; one block and two; squeeze: 32 / 4 = 8, 8 / 4 = 2, 24 / 4 =
    # 6
    from torchvision.models.regnet import BlockParams, RegNet
    net = RegNet(BlockParams([1, 2], [8, 24], [4, 4], [1., 1.], [2, 2], .25), num_classes=10).eval()
    return net, images(16), total(flat(32), flat(8, 24), flat(8, 2, 6), grouped(2, 4), times(2, grouped(6, 4)))


@network("torchvision mnasnet1_0", fast=False)
def mnasnet1_0():
    # The stem: 32 (convolution, depthwise convolution), 16. Stacks have one stream each, which no stack shares: 24, 40,
    # 80, 96, 192, 320. Expansions: 3 * 16, 3 * 24 twice | 3 * 24, 3 * 40 twice | 6 * 40, 6 * 80 twice | 6 * 80, 6 * 96
    # | 6 * 96, 6 * 192 three times | 6 * 192. The last convolution has 1280.
    return *torchvision("mnasnet1_0", 32), total(
        flat(32, 16), flat(24, 40, 80, 96, 192, 320), flat(1280),
        flat(48, 72, 72), flat(72, 120, 120), flat(240, 480, 480), flat(480, 576), flat(576, *[1152] * 3), flat(1152))


@network("torchvision resnet50", fast=False)
def resnet50():
    # Stem 64. Stages of 3, 4, 6, 3 bottlenecks: a stream of 256, 512, 1024, 2048, and conv1 and conv2 of 64, 128, 256,
    # 512.
    return *torchvision("resnet50"), Counter({
        (64, 0): 1 + 2 * 3, (128, 0): 2 * 4, (256, 0): 1 + 2 * 6, (512, 0): 1 + 2 * 3, (1024, 0): 1, (2048, 0): 1})


@network("torchvision resnet18", fast=False)
def resnet18():
    # The stem and layer1 share one stream of 64 (no projection), then 128, 256, 512. Each of 8 blocks has conv1.
    return *torchvision("resnet18", 32), Counter({(64, 0): 1 + 2, (128, 0): 1 + 2, (256, 0): 1 + 2, (512, 0): 1 + 2})


# ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj: every convolution has its own group; outputs are segments
INCEPTIONS = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), (192, 96, 208, 16, 48, 64),
              (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
              (256, 160, 320, 32, 128, 128), (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]
GOOGLENET = flat(64, 64, 192, *chain(*INCEPTIONS))


@network("torchvision googlenet, without auxiliary heads", fast=False)
def googlenet():
    return *torchvision("googlenet", aux_logits=False, init_weights=False), GOOGLENET


@network("torchvision googlenet, unused auxiliary heads", fast=False)
def googlenet_aux():
    # evaluation mode does not run aux1 and aux2: their tensors are in no group
    return *torchvision("googlenet", init_weights=False), GOOGLENET


@network("torchvision mobilenet_v3_small", fast=False)
def mobilenet_v3_small():
    # Stem 16. Blocks (input, expanded, output, squeeze): a stream joins blocks of stride 1 with equal channels.
    # 16,16,16,se 8 (stride 2) | 16,72,24 | 24,88,24 (sum) | 24,96,40,se 24 | 40,240,40,se 64 (sum) twice |
    # 40,120,48,se 32 | 48,144,48,se 40 (sum) | 48,288,96,se 72 | 96,576,96,se 144 (sum) twice; conv 576; linear 1024.
    # The first block does not expand: its depthwise convolution moves with the stem (16), and so does its squeeze.
    return *torchvision("mobilenet_v3_small", 32), total(flat(16), flat(8), flat(16), flat(72), flat(24), flat(88),
                                                         flat(96, 24), flat(40), flat(240, 64, 240, 64), flat(120, 32),
                                                         flat(48), flat(144, 40), flat(288, 72), flat(96),
                                                         flat(576, 144, 576, 144), flat(576), flat(1024))


# ---- Hugging Face ----------------------------------------------------------------------------------------------------

class Only(nn.Module):
    """A network that returns one field of a model's output: the others are not outputs."""

    def __init__(self, net, field):
        super().__init__()
        self.net, self.field = net, field

    def forward(self, *args, **kwargs):
        return getattr(self.net(*args, **kwargs), self.field)


def transformer(name, config, **settings):
    import transformers
    transformers.utils.logging.set_verbosity_error()
    return getattr(transformers, name)(getattr(transformers, config)(**settings)).eval()


def gpt2(**settings):
    return transformer("GPT2LMHeadModel",
                       "GPT2Config",
                       vocab_size=VOCAB,
                       n_positions=16,
                       n_embd=24,
                       n_layer=2,
                       n_head=3,
                       use_cache=False,
                       **settings)


# The stream: wte (also lm_head, tied), wpe, ln_1, ln_2, ln_f, both axes of Conv1D weights (inputs, outputs). c_attn's
# outputs are [3, head, 8]. The vocabulary is fixed. MLP: 4 * 24.
GPT2 = Counter({(24, 0): 1, (3, 0): 2, (8, 3): 3 * 2 * 2, (96, 0): 2})


@network("transformers GPT2LMHeadModel")
def gpt2_sdpa():
    return gpt2(), tokens(5), GPT2


@network("transformers GPT2LMHeadModel, eager attention", fast=False)
def gpt2_eager():
    return gpt2(attn_implementation="eager"), tokens(5), GPT2


@network("transformers GPT2LMHeadModel, attention scaled by layer", fast=False)
def gpt2_scaled():
    return gpt2(attn_implementation="eager", scale_attn_by_inverse_layer_idx=True), tokens(5), GPT2


@network("transformers GPT2Model, which returns the stream", fast=False)
def gpt2_bare():
    # last_hidden_state is the output: its axis is fixed
    return transformer("GPT2Model", "GPT2Config", vocab_size=VOCAB, n_positions=16, n_embd=24, n_layer=2, n_head=3,
                       use_cache=False), tokens(5), GPT2 - flat(24)


BERT = {
    "vocab_size": VOCAB, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40,
    "max_position_embeddings": 16
}


def bert_example(n, seed=0):
    ids = tokens(5)(n, seed)
    return {"input_ids": ids, "token_type_ids": ids % 2}


@network("transformers BertForMaskedLM")
def bert_mlm():
    # The stream passes every post-norm: words, positions, token types, all layers. The decoder is tied to the words, so
    # that its inputs, the outputs of transform.dense, are ordered as the stream.
    return transformer("BertForMaskedLM", "BertConfig", **BERT), bert_example, total(
        flat(24), attention(3, 8, 2), flat(40, 40))


@network("transformers BertForSequenceClassification")
def bert_classifier():
    # the pooler's outputs are their own group
    return transformer("BertForSequenceClassification", "BertConfig", num_labels=4, **BERT), bert_example, total(
        flat(24), flat(24), attention(3, 8, 2), flat(40, 40))


CLIP = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3, "image_size": 16,
        "patch_size": 8, "projection_dim": 20}


@network("transformers CLIPVisionModelWithProjection, image_embeds")
def clip():
    # the stream: class and patch embeddings, positions, pre_layrnorm, layers, post_layernorm, the projection's inputs
    net = transformer("CLIPVisionModelWithProjection", "CLIPVisionConfig", **CLIP)
    return Only(net, "image_embeds").eval(), images(16), total(flat(24), attention(3, 8, 2), flat(40, 40))


@network("transformers CLIPVisionModelWithProjection, all outputs")
def clip_all():
    # last_hidden_state is an output too: the stream is fixed, layers are free inside
    return transformer("CLIPVisionModelWithProjection", "CLIPVisionConfig", **CLIP), images(16), total(
        attention(3, 8, 2), flat(40, 40))


def llama(kv_heads, **settings):
    return transformer("LlamaForCausalLM", "LlamaConfig", vocab_size=VOCAB, hidden_size=48, intermediate_size=40,
                       num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=kv_heads,
                       max_position_embeddings=16, use_cache=False, **settings)


# Two key heads with three query heads of 8 each. Rotary embeddings fix the order of queries and keys. Per layer: the
# key heads with their query heads (2); the query heads of each key head (3 within 2); the order of each key head's
# values, which repeats in its three query heads' columns of o_proj (8 within 2). The two embeddings are not tied, but
# share the stream.
LLAMA = Counter({(48, 0): 1, (2, 0): 2, (3, 2): 2 * 2, (8, 2): 2 * 2, (40, 0): 2})


@network("transformers LlamaForCausalLM, grouped queries")
def llama_grouped():
    return llama(2), tokens(5), LLAMA


@network("transformers LlamaForCausalLM, grouped queries, eager attention, tied", fast=False)
def llama_eager():
    return llama(2, attn_implementation="eager", tie_word_embeddings=True), tokens(5), LLAMA


@network("transformers LlamaForCausalLM, one key head", fast=False)
def llama_one():
    # one key head is not a group: its query heads and its values are not within another
    return llama(1), tokens(5), Counter({(48, 0): 1, (6, 0): 2, (8, 0): 2, (40, 0): 2})


@network("transformers LlamaForCausalLM, as many key heads as query heads", fast=False)
def llama_all():
    return llama(6), tokens(5), Counter({(48, 0): 1, (6, 0): 2, (8, 6): 6 * 2, (40, 0): 2})


@network("transformers Qwen3ForCausalLM", fast=False)
def qwen3():
    # as LLaMA; q_norm and k_norm are shared by heads, but rotary embeddings fix their order anyway
    return transformer("Qwen3ForCausalLM", "Qwen3Config", vocab_size=VOCAB, hidden_size=48, intermediate_size=40,
                       num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, head_dim=8,
                       max_position_embeddings=16, use_cache=False), tokens(5), LLAMA


@network("transformers GPTNeoXForCausalLM")
def gpt_neox():
    # query_key_value's outputs are [head, 3, 16]; 4 of 16 are rotary and fixed, 12 are free in queries and keys
    return transformer("GPTNeoXForCausalLM", "GPTNeoXConfig", vocab_size=VOCAB, hidden_size=48, intermediate_size=40,
                       num_hidden_layers=2, num_attention_heads=3, max_position_embeddings=16, use_cache=False,
                       rope_parameters={"rope_type": "default", "rope_theta": 100., "partial_rotary_factor": .25}), \
        tokens(5), Counter({(48, 0): 1, (3, 0): 2, (12, 3): 3 * 2, (16, 3): 3 * 2, (40, 0): 2})


@network("transformers T5ForConditionalGeneration, logits")
def t5():
    # One embedding for encoder, decoder and logits: both streams are one group. Layer 0 computes the bias of relative
    # positions for all layers: the heads of the encoder are one group, those of the decoder's self-attention another.
    # Cross-attention has no such bias: its 2 layers have their own heads. 6 attentions of 3 heads of 8; 4 MLPs.
    net = transformer("T5ForConditionalGeneration",
                      "T5Config",
                      vocab_size=VOCAB,
                      d_model=24,
                      d_kv=8,
                      num_heads=3,
                      d_ff=40,
                      num_layers=2,
                      num_decoder_layers=2,
                      use_cache=False)
    return Only(net, "logits").eval(), lambda n, seed=0: {
        "input_ids": tokens(5)(n, seed), "decoder_input_ids": tokens(4)(n, seed + 1)}, Counter({
            (24, 0): 1, (3, 0): 1 + 1 + 2, (8, 3): 6 * 3 * 2, (40, 0): 4})


class Experts(nn.Module):
    """A mixture of experts whose experts run one by one, except in an export: the product of PyTorch needs float32."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        self.net.set_experts_implementation("grouped_mm" if torch.compiler.is_exporting() else "eager")
        return self.net(x).logits


MIXTURE = {"vocab_size": VOCAB, "hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2, "use_cache": False,
           "max_position_embeddings": 16}


@network("transformers MixtralForCausalLM")
def mixtral():
    # The stream, two heads of values of 8, 4 experts with the router's rows. Each expert has an order of its 10 hidden units.
    net = transformer("MixtralForCausalLM", "MixtralConfig", **MIXTURE, intermediate_size=10, num_hidden_layers=1,
                      num_local_experts=4, num_experts_per_tok=2)
    return Experts(net).eval(), tokens(5), Counter({(16, 0): 1, (2, 0): 1, (8, 2): 2, (4, 0): 1, (10, 4): 4})


@network("transformers Qwen2MoeForCausalLM", fast=False)
def qwen2_moe():
    # as Mixtral, with a shared expert of 7
    net = transformer("Qwen2MoeForCausalLM", "Qwen2MoeConfig", **MIXTURE, intermediate_size=10, moe_intermediate_size=6,
                      shared_expert_intermediate_size=7, num_hidden_layers=1, num_experts=4, num_experts_per_tok=2)
    return Experts(net).eval(), tokens(5), Counter({(16, 0): 1, (2, 0): 1, (8, 2): 2, (4, 0): 1, (6, 4): 4, (7, 0): 1})


@network("transformers DeepseekV3ForCausalLM", fast=False)
def deepseek():
    # Layer 0 has an MLP of 10; layer 1 has two groups of two experts of 6 and a shared expert of 6. Per layer: ranks of 5
    # (queries) and 6 (keys and values), 2 heads with 3 channels without rotary embedding and 5 of values. Orders are at most
    # two levels deep: the two experts of a group have one order of hidden units.
    net = transformer("DeepseekV3ForCausalLM", "DeepseekV3Config", **MIXTURE, intermediate_size=10, moe_intermediate_size=6,
                      num_hidden_layers=2, first_k_dense_replace=1, n_routed_experts=4, num_experts_per_tok=2, n_group=2,
                      topk_group=1, n_shared_experts=1, q_lora_rank=5, kv_lora_rank=6, qk_rope_head_dim=4,
                      qk_nope_head_dim=3, v_head_dim=5)
    return Experts(net).eval(), tokens(12), Counter({
        (16, 0): 1, (10, 0): 1, (6, 0): 1 + 2, (6, 2): 2, (5, 0): 2, (2, 0): 2 + 1, (2, 2): 2, (3, 2): 4, (5, 2): 4})


@network("transformers Mamba2ForCausalLM")
def mamba2():
    # 2 groups of 2 heads of 8 channels, whose gates move with them; 6 states, in one order for both groups. Orders are at most
    # two levels deep: the channels of a group's heads are in one order. The norm is over the channels of a group.
    net = transformer("Mamba2ForCausalLM", "Mamba2Config", vocab_size=VOCAB, hidden_size=16, num_heads=4, head_dim=8,
                      state_size=6, n_groups=2, num_hidden_layers=1, expand=2, chunk_size=4, use_cache=False)
    return Only(net, "logits").eval(), tokens(5), Counter({(16, 0): 1, (2, 0): 1, (2, 2): 2, (8, 2): 2, (6, 0): 1}), \
        {"smaller"}, Counter({(16, 0): 1, (2, 0): 1, (2, 2): 2, (8, 2): 2})


# ---- our own ---------------------------------------------------------------------------------------------------------

class Attention(nn.Module):
    """Attention from plain operations, with one norm over queries and one over keys that all heads share."""

    def __init__(self, width=24, heads=3, norm=True):
        super().__init__()
        self.embed, self.heads = nn.Linear(7, width), heads
        self.qkv, self.out, self.head = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 5)
        self.q_norm, self.k_norm = (nn.LayerNorm(width // heads) if norm else nn.Identity() for _ in range(2))

    def forward(self, x):
        x = self.embed(x)
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        return self.head(x + self.out(y.transpose(1, 2).flatten(2)))


def sequences(length, width):
    return lambda n, seed=0: torch.randn(n, length, width, generator=torch.Generator().manual_seed(seed))


@network("attention with norms of queries and keys")
def shared_norm():
    # the heads' orders of queries and keys are one group, which moves in every head and in both norms
    return Attention().eval(), sequences(5, 7), Counter({(24, 0): 1, (3, 0): 1, (8, 0): 1, (8, 3): 3})


@network("attention without norms of queries and keys")
def no_norm():
    return Attention(norm=False).eval(), sequences(5, 7), total(flat(24), attention(3, 8))


class GroupNorms(nn.Module):
    """A residual block with group norms."""

    def __init__(self, width=16, first=4, inner=2, last=4):
        super().__init__()
        self.stem, self.norm0 = nn.Conv2d(3, width, 3, padding=1), nn.GroupNorm(first, width)
        self.conv1, self.norm1 = nn.Conv2d(width, 12, 3, padding=1), nn.GroupNorm(inner, 12)
        self.conv2, self.norm2 = nn.Conv2d(12, width, 3, padding=1), nn.GroupNorm(last, width)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = F.relu(self.norm0(self.stem(x)))
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return self.head(F.relu(x + y).mean((2, 3)))


def blocks(groups, width):
    """A group norm: whole blocks, and the order within each."""
    return Counter({(groups, 0): 1, (width, groups): groups})


@network("group norms")
def group_norms():
    # the stream: 4 blocks of 4; inside: 2 blocks of 6
    return GroupNorms().eval(), images(8), total(blocks(4, 4), blocks(2, 6))


@network("group norms of different sizes on one stream")
def group_norms_nested():
    # 4 blocks of 4 from norm0 and 8 of 2 from norm2: 4 blocks, 2 blocks in each, and the order of 2 in each of those.
    # Moments have one level of nesting, so the order of the 2 blocks is not found.
    least = total(Counter({(4, 0): 1, (2, 4): 8}), blocks(2, 6))
    return GroupNorms(last=8).eval(), images(8), total(
        Counter({(4, 0): 1, (2, 4): 4, (2, 2): 8}), blocks(2, 6)), {"smaller"}, least


@network("group norms of one block and of one channel")
def group_norms_free():
    # neither a norm over all channels nor one per channel has an order
    return GroupNorms(first=1, inner=12, last=16).eval(), images(8), flat(16, 12)
