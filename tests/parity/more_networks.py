# SPDX-License-Identifier: Apache-2.0
"""Models of torchvision, transformers, peft and diffusers, and networks of graphs and sequences, for
`derived_groups.py survey TABLE more`. Each function of MORE returns (net, example) as in network_kinds."""
import torch
from torch import nn
from torch.nn import functional as F

from expected_groups import VOCAB, images, sequences, tokens, transformer
from hostile_modules import Apply, parameter

MORE = {}
TEXT = {"vocab_size": VOCAB, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
DECODER = {**TEXT, "intermediate_size": 40, "max_position_embeddings": 32, "use_cache": False, "pad_token_id": 0}


class Only(nn.Module):
    """A model that returns one of its outputs only. settings: further arguments of it."""

    def __init__(self, net, output, **settings):
        super().__init__()
        self.net, self.output, self.settings = net, output, settings

    def forward(self, *args, **kwargs):
        y = self.net(*args, **kwargs, **self.settings)
        return y[self.output] if isinstance(y, (dict, tuple, list)) else getattr(y, self.output)


def model(name):
    def add(function):
        MORE[name] = lambda: (lambda net, example: (net.eval(), example))(*function())
        return function
    return add


def randn(*shape):
    return lambda n, seed=0: torch.randn(n, *shape, generator=torch.Generator().manual_seed(seed))


def by_name(**examples):
    return lambda n, seed=0: {k: f(n, seed) for k, f in examples.items()}


def several(*examples):
    return lambda n, seed=0: tuple(f(n, seed) for f in examples)


# ---- transformers: text ----------------------------------------------------------------------------------------------

def _hf(name, config, example, output="logits", label="", **settings):
    def make():
        call = {"use_cache": False} if settings.get("use_cache") is False else {}
        return Only(transformer(name, config, **settings), output, **call), example
    model("transformers " + name + label)(make)


_hf("MixtralForCausalLM", "MixtralConfig", tokens(6), label=", logits", **DECODER, num_local_experts=4, num_key_value_heads=3)
_hf("Qwen2MoeForCausalLM", "Qwen2MoeConfig", tokens(6), **DECODER, num_experts=4, num_experts_per_tok=2, num_key_value_heads=3,
    moe_intermediate_size=16, shared_expert_intermediate_size=20)
_hf("DeepseekV3ForCausalLM", "DeepseekV3Config", tokens(6), **DECODER, moe_intermediate_size=16, n_routed_experts=4, n_group=2,
    topk_group=1, num_experts_per_tok=2, first_k_dense_replace=1, kv_lora_rank=12, q_lora_rank=16, qk_rope_head_dim=4,
    qk_nope_head_dim=8, v_head_dim=8, num_key_value_heads=3)
_hf("Phi3ForCausalLM", "Phi3Config", tokens(6), **DECODER, num_key_value_heads=3)
_hf("GemmaForCausalLM", "GemmaConfig", tokens(6), **DECODER, num_key_value_heads=1, head_dim=8)
_hf("Gemma3ForCausalLM", "Gemma3TextConfig", tokens(6), **DECODER, num_key_value_heads=1, head_dim=8)
_hf("Olmo2ForCausalLM", "Olmo2Config", tokens(6), **DECODER, num_key_value_heads=3)
_hf("CohereForCausalLM", "CohereConfig", tokens(6), **DECODER, num_key_value_heads=3)
_hf("GptOssForCausalLM", "GptOssConfig", tokens(6), **{**DECODER, "num_attention_heads": 4}, num_key_value_heads=2, head_dim=8,
    num_local_experts=4, num_experts_per_tok=2)
_hf("FalconForCausalLM", "FalconConfig", tokens(6), **TEXT, use_cache=False)
_hf("GPTJForCausalLM", "GPTJConfig", tokens(6), vocab_size=VOCAB, n_embd=24, n_layer=2, n_head=3, rotary_dim=4, n_positions=32,
    use_cache=False)
_hf("BloomForCausalLM", "BloomConfig", tokens(6), label=", logits", vocab_size=VOCAB, hidden_size=24, n_layer=2, n_head=3,
    use_cache=False)
_hf("Mamba2ForCausalLM", "Mamba2Config", tokens(6), vocab_size=VOCAB, hidden_size=12, state_size=4, num_hidden_layers=2,
    num_heads=6, head_dim=4, n_groups=2, chunk_size=4, use_cache=False)
_hf("RwkvForCausalLM", "RwkvConfig", tokens(6), vocab_size=VOCAB, hidden_size=12, num_hidden_layers=2, attention_hidden_size=12,
    use_cache=False)
_hf("T5ForConditionalGeneration", "T5Config", by_name(input_ids=tokens(6), decoder_input_ids=tokens(5)), label=", gated",
    vocab_size=VOCAB, d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=3, feed_forward_proj="gated-gelu", use_cache=False)
_hf("BartForConditionalGeneration", "BartConfig", by_name(input_ids=tokens(6), decoder_input_ids=tokens(5)), vocab_size=VOCAB,
    d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=40,
    decoder_ffn_dim=40, max_position_embeddings=32, use_cache=False)
_hf("DebertaV2ForSequenceClassification", "DebertaV2Config", tokens(6), **TEXT, intermediate_size=40, relative_attention=True,
    pos_att_type=["p2c", "c2p"], max_position_embeddings=32)
_hf("AlbertForMaskedLM", "AlbertConfig", tokens(6), **TEXT, intermediate_size=40, embedding_size=10, max_position_embeddings=32)
_hf("ElectraForPreTraining", "ElectraConfig", tokens(6), **TEXT, intermediate_size=40, embedding_size=10)
_hf("ModernBertForMaskedLM", "ModernBertConfig", tokens(6), **{**DECODER, "use_cache": True}, global_attn_every_n_layers=2)
_hf("XLNetForSequenceClassification", "XLNetConfig", tokens(6), vocab_size=VOCAB, d_model=24, n_layer=2, n_head=3, d_inner=40)

# ---- transformers: sound and images ----------------------------------------------------------------------------------

_hf("WhisperForConditionalGeneration", "WhisperConfig", by_name(input_features=randn(6, 16), decoder_input_ids=tokens(5)),
    vocab_size=VOCAB, d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=3,
    encoder_ffn_dim=40, decoder_ffn_dim=40, max_source_positions=8, num_mel_bins=6, pad_token_id=0, bos_token_id=1,
    eos_token_id=2, decoder_start_token_id=1, use_cache=False)
_hf("Wav2Vec2ForCTC", "Wav2Vec2Config", randn(400), **TEXT, intermediate_size=40, conv_dim=(8, 8), conv_stride=(5, 2),
    conv_kernel=(10, 3), num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, mask_time_prob=0.)
_hf("HubertForSequenceClassification", "HubertConfig", randn(400), **TEXT, intermediate_size=40, conv_dim=(8, 8),
    conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, mask_time_prob=0.)
_hf("ASTForAudioClassification", "ASTConfig", randn(24, 8), hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
    intermediate_size=40, patch_size=4, frequency_stride=4, time_stride=4, max_length=24, num_mel_bins=8)
_hf("SegformerForSemanticSegmentation", "SegformerConfig", images(64), depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32],
    num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=16)
_hf("Swinv2ForImageClassification", "Swinv2Config", images(32), image_size=32, patch_size=4, embed_dim=12, depths=[2, 2],
    num_heads=[2, 3], window_size=4)
_hf("ConvNextV2ForImageClassification", "ConvNextV2Config", images(32), hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1])
_hf("Dinov2ForImageClassification", "Dinov2Config", images(28), hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
    image_size=28, patch_size=14, use_swiglu_ffn=True)
_hf("DPTForDepthEstimation", "DPTConfig", images(32), "predicted_depth", hidden_size=24, num_hidden_layers=4,
    num_attention_heads=3, intermediate_size=40, image_size=32, patch_size=8, backbone_out_indices=[0, 1, 2, 3],
    neck_hidden_sizes=[8, 8, 12, 12], fusion_hidden_size=16)
_hf("MobileViTForImageClassification", "MobileViTConfig", images(64), hidden_sizes=[12, 16, 20],
    neck_hidden_sizes=[8, 8, 12, 16, 20, 24, 32], image_size=64)
_hf("PvtForImageClassification", "PvtConfig", images(64), image_size=64, depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32],
    num_attention_heads=[1, 2, 3, 4])
_hf("LevitForImageClassification", "LevitConfig", images(64), image_size=64, hidden_sizes=[16, 24, 32], depths=[1, 1, 1],
    num_attention_heads=[2, 3, 4], key_dim=[4, 4, 4])
_hf("ViTMAEForPreTraining", "ViTMAEConfig", images(32), image_size=32, patch_size=8, hidden_size=24, num_hidden_layers=2,
    num_attention_heads=3, intermediate_size=40, decoder_hidden_size=16, decoder_num_hidden_layers=1,
    decoder_num_attention_heads=2, decoder_intermediate_size=20)
_hf("ViTMAEForPreTraining", "ViTMAEConfig", by_name(pixel_values=images(32), noise=randn(16)), label=" with given noise",
    image_size=32, patch_size=8, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
    decoder_hidden_size=16, decoder_num_hidden_layers=1, decoder_num_attention_heads=2, decoder_intermediate_size=20)


@model("transformers CLIPModel, both embeddings")
def clip():
    text = {**TEXT, "intermediate_size": 40, "max_position_embeddings": 32, "eos_token_id": 2, "bos_token_id": 1}
    vision = {"hidden_size": 18, "intermediate_size": 30, "num_hidden_layers": 2, "num_attention_heads": 3, "image_size": 16,
              "patch_size": 8}
    net = transformer("CLIPModel", "CLIPConfig", text_config=text, vision_config=vision, projection_dim=12)

    def forward(m, input_ids, pixel_values):
        y = m.net(input_ids=input_ids, pixel_values=pixel_values)
        return y.image_embeds, y.text_embeds
    return Apply(forward, net=net), by_name(input_ids=tokens(6), pixel_values=images(16))


@model("transformers DetrForObjectDetection")
def detr():
    import transformers
    backbone = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 12, 16, 20], depths=[1, 1, 1, 1],
                                         out_features=["stage4"])
    net = transformer("DetrForObjectDetection", "DetrConfig", use_timm_backbone=False, use_pretrained_backbone=False,
                      backbone=None, backbone_config=backbone, d_model=24, encoder_layers=1, decoder_layers=1,
                      encoder_attention_heads=3,
                      decoder_attention_heads=3, encoder_ffn_dim=40, decoder_ffn_dim=40, num_queries=5, num_labels=7)
    return Only(net, "logits"), images(64)


# ---- peft ------------------------------------------------------------------------------------------------------------

def _peft(label, *configs, **settings):
    def make():
        import peft
        net = transformer("LlamaForCausalLM", "LlamaConfig", **DECODER, num_key_value_heads=3)
        made = [getattr(peft, kind)(**own) for kind, own in configs]
        net = peft.get_peft_model(net, made[0], adapter_name="first")
        for i, config in enumerate(made[1:]):
            net.add_adapter("other%d" % i, config)
        if len(made) > 1:
            net.base_model.set_adapter(["first"] + ["other%d" % i for i in range(len(made) - 1)])
        return Only(net, "logits", use_cache=False), tokens(6)
    model("peft " + label)(make)


LORA = {"r": 3, "target_modules": ["q_proj", "v_proj", "down_proj"], "init_lora_weights": False}
_peft("LoRA", ("LoraConfig", LORA))
_peft("DoRA", ("LoraConfig", {**LORA, "use_dora": True}))
_peft("two LoRA adapters at once", ("LoraConfig", LORA),
      ("LoraConfig", {**LORA, "r": 2, "target_modules": ["q_proj", "up_proj"]}))
_peft("IA3", ("IA3Config", {"target_modules": ["k_proj", "v_proj", "down_proj"], "feedforward_modules": ["down_proj"],
                            "init_ia3_weights": False}))
_peft("LoHa", ("LoHaConfig", {"r": 3, "target_modules": ["q_proj", "v_proj"], "init_weights": False}))
_peft("prompt tuning", ("PromptTuningConfig", {"task_type": "CAUSAL_LM", "num_virtual_tokens": 3}))

# ---- diffusers -------------------------------------------------------------------------------------------------------

def _time(n, seed=0):
    return torch.arange(n) * 7 + 3


@model("diffusers UNet2DModel")
def unet():
    import diffusers
    net = diffusers.UNet2DModel(sample_size=16, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4,
                                attention_head_dim=8, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                                up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    return Only(net, "sample"), by_name(sample=images(16), timestep=_time)


@model("diffusers UNet2DConditionModel")
def conditional_unet():
    import diffusers
    net = diffusers.UNet2DConditionModel(sample_size=16, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4,
                                         attention_head_dim=2, cross_attention_dim=12,
                                         down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
                                         up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"))
    return Only(net, "sample"), by_name(sample=images(16, 4), timestep=_time, encoder_hidden_states=sequences(5, 12))


@model("diffusers DiTTransformer2DModel")
def dit():
    import diffusers
    net = diffusers.DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=4,
                                          num_layers=2, norm_num_groups=4, sample_size=8, patch_size=2, num_embeds_ada_norm=20)
    return Only(net, "sample"), by_name(hidden_states=images(8, 4), timestep=_time,
                                        class_labels=lambda n, seed=0: torch.arange(n) % 20)


@model("diffusers AutoencoderKL, decoded mode")
def autoencoder():
    import diffusers
    net = diffusers.AutoencoderKL(block_out_channels=(8, 16), down_block_types=("DownEncoderBlock2D",) * 2, latent_channels=4,
                                  up_block_types=("UpDecoderBlock2D",) * 2, norm_num_groups=4, sample_size=16)

    def forward(m, x):
        return m.net.decode(m.net.encode(x).latent_dist.mode()).sample
    return Apply(forward, net=net), images(16)


# ---- graphs and sequences --------------------------------------------------------------------------------------------

def _edges(n, seed=0):
    """(n, 9, 2): the vertices of nine edges among six."""
    return torch.randint(6, (n, 9, 2), generator=torch.Generator().manual_seed(seed))


@model("graph network with edges as an input")
def graph_network():
    def forward(m, x, edges, lengths):
        x = F.relu(m.first(x))
        for message, update in zip(m.messages, m.updates):
            source, target = (x.gather(1, edges[..., i, None].expand(-1, -1, x.shape[2])) for i in (0, 1))
            y = F.relu(message(torch.cat([source, target, lengths[..., None]], -1)))
            total = torch.zeros_like(x[..., :1]).expand(-1, -1, y.shape[2]).scatter_add(
                1, edges[..., 1, None].expand(-1, -1, y.shape[2]), y)
            x = x + update(torch.cat([x, total], -1))
        return m.last(x.amax(1))
    return Apply(forward, first=nn.Linear(7, 12), messages=nn.ModuleList(nn.Linear(25, 8) for _ in range(2)),
                 updates=nn.ModuleList(nn.Linear(20, 12) for _ in range(2)), last=nn.Linear(12, 5)), by_name(
                     x=sequences(6, 7), edges=_edges, lengths=randn(9))


@model("graph network with a matrix of edges as an input")
def dense_graph_network():
    def forward(m, x, edges):
        x = F.relu(m.first(x))
        for a, b in zip(m.own, m.neighbours):
            x = F.relu(a(x) + edges / edges.sum(-1, keepdim=True) @ b(x)) + x
        return m.last(x.mean(1))
    return Apply(forward, first=nn.Linear(7, 12), own=nn.ModuleList(nn.Linear(12, 12) for _ in range(2)),
                 neighbours=nn.ModuleList(nn.Linear(12, 12, bias=False) for _ in range(2)), last=nn.Linear(12, 5)), by_name(
                     x=sequences(6, 7), edges=lambda n, seed=0: randn(6, 6)(n, seed).abs() + .1)


@model("LSTM of two layers, both directions")
def lstm():
    return Apply(lambda m, x: m.last(F.relu(m.mid(m.lstm(m.words(x))[0].mean(1)))), words=nn.Embedding(VOCAB, 8),
                 lstm=nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True), mid=nn.Linear(24, 16),
                 last=nn.Linear(16, 5)), tokens(6)


@model("GRU with attention over its states")
def gru():
    def forward(m, x):
        y, last = m.gru(m.first(x))
        weights = (m.score(torch.tanh(m.key(y) + m.query(last[-1])[:, None]))).softmax(1)
        return m.last((weights * y).sum(1))
    return Apply(forward, first=nn.Linear(7, 10), gru=nn.GRU(10, 12, batch_first=True), key=nn.Linear(12, 8),
                 query=nn.Linear(12, 8), score=nn.Linear(8, 1), last=nn.Linear(12, 5)), sequences(6, 7)


@model("Perceiver")
def perceiver():
    def forward(m, x):
        y = m.latents.expand(len(x), -1, -1)
        x = m.first(x)
        for cross, own, mlp in zip(m.cross, m.own, m.mlps):
            y = y + cross(y, x, x, need_weights=False)[0]
            y = y + own(y, y, y, need_weights=False)[0]
            y = y + mlp(m.norm(y))
        return m.last(y.mean(1))

    def attention():
        return nn.ModuleList(nn.MultiheadAttention(12, 3, batch_first=True) for _ in range(2))
    return Apply(forward, latents=parameter(1, 4, 12), first=nn.Linear(7, 12), cross=attention(), own=attention(),
                 mlps=nn.ModuleList(nn.Sequential(nn.Linear(12, 20), nn.GELU(), nn.Linear(20, 12)) for _ in range(2)),
                 norm=nn.LayerNorm(12), last=nn.Linear(12, 5)), sequences(6, 7)


# ---- torchvision -----------------------------------------------------------------------------------------------------

def _torchvision(path, example, output=None, **settings):
    def make():
        from torchvision import models
        maker = models
        for part in path.split("."):
            maker = getattr(maker, part)
        net = maker(weights=None, **settings)
        return (Only(net, output) if output else net), example
    model("torchvision " + path.split(".")[-1])(make)


for _name in "fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large":
    _torchvision("segmentation." + _name, images(64), "out", weights_backbone=None)
for _name in "retinanet_resnet50_fpn", "ssdlite320_mobilenet_v3_large", "fasterrcnn_mobilenet_v3_large_fpn":
    _torchvision("detection." + _name, lambda n, seed=0: (list(images(64)(n, seed)),), weights_backbone=None)
for _name in "r3d_18", "mc3_18", "r2plus1d_18":
    _torchvision("video." + _name, randn(3, 4, 32, 32))


@model("torchvision RetinaNet, logits and boxes of the backbone's pyramid")
def retinanet():
    from torchvision.models import detection
    net = detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None)

    def forward(m, x):
        return m.head(list(m.backbone(x).values()))
    return Apply(forward, backbone=net.backbone, head=net.head), images(64)


@model("torchvision Faster R-CNN, proposals before their selection")
def faster_rcnn():
    from torchvision.models import detection
    net = detection.fasterrcnn_mobilenet_v3_large_fpn(weights=None, weights_backbone=None)

    def forward(m, x):
        return m.rpn(list(m.backbone(x).values()))
    return Apply(forward, backbone=net.backbone, rpn=net.rpn.head), images(64)


@model("torchvision MViT")
def mvit():
    from torchvision.models.video import mvit as source
    blocks = [source.MSBlockConfig(num_heads=h, input_channels=i, output_channels=o, kernel_q=[3, 3, 3], kernel_kv=[3, 3, 3],
                                   stride_q=[1, s, s], stride_kv=[1, 2, 2])
              for h, i, o, s in ((2, 16, 16, 1), (2, 16, 32, 2), (4, 32, 32, 1))]
    return source.MViT(spatial_size=(32, 32), temporal_size=4, block_setting=blocks, residual_pool=True,
                       residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True,
                       num_classes=7), randn(3, 4, 32, 32)


@model("torchvision RAFT, small")
def raft():
    from torchvision.models import optical_flow
    net = optical_flow.raft_small(weights=None)
    return Only(net, -1, num_flow_updates=2), several(images(128), lambda n, seed=0: images(128)(n, seed + 1))
