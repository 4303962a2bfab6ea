# SPDX-License-Identifier: Apache-2.0
# Networks with adapters of peft, LoRA and DoRA: groups names the tensors of an inactive adapter. Permuted networks keep their
# outputs. Networks whose active adapters differ are refused.
need_torch 2.4 transformers peft
export OMP_NUM_THREADS=1
$python - 2>errors <<'END' || die "$(tail -n 4 errors)"
import copy

import mcz.torch
import numpy as np
import peft
import torch
from refusal import expect_error
from transformers import GPT2Config, GPT2LMHeadModel

CONFIG = GPT2Config(vocab_size=50, n_positions=16, n_embd=24, n_layer=2, n_head=3, use_cache=False)


def adapted(*names, **settings):
    torch.manual_seed(0)
    lora = peft.LoraConfig(r=4, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True, init_lora_weights=False, **settings)
    net = peft.get_peft_model(GPT2LMHeadModel(CONFIG), lora, names[0])
    for name in names[1:]:
        net.add_adapter(name, lora)
    return net.eval()


x = {"input_ids": torch.randint(50, (2, 8))}
for settings in {}, {"use_dora": True}:
    net = adapted("one", **settings)
    g = mcz.torch.groups(net, x)
    moved = copy.deepcopy(net)
    rng = np.random.default_rng(0)
    mcz.torch.permute(moved, {k: rng.permutation(n) for k, n in g.sizes.items()}, g)
    assert {24, 96} <= set(g.sizes.values()), g.sizes
    assert any("lora_A.one" in r.tensor for r in g) and any("lora_B.one" in r.tensor for r in g)
    ids = {"input_ids": torch.randint(50, (3, 11))}
    for one in net, moved:
        one.double()
    with torch.no_grad():
        a, b = net(**ids).logits, moved(**ids).logits
    assert float((a - b).abs().max() / a.abs().max()) < 1e-10, settings

two = adapted("one", "two")
expect_error("lora_A.two", lambda: mcz.torch.groups(two, x))
g = mcz.torch.groups(two, x, unused="keep")
other = copy.deepcopy(two)
other.set_adapter("two")
expect_error("a and b*different networks: ", lambda: mcz.torch.align(two, other, [x], g))
END
