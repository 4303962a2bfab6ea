# SPDX-License-Identifier: Apache-2.0
# GPT-2 and a BERT classifier of transformers work unmodified on their own batches: dictionaries with labels, padded to
# different lengths for Curve and merge. The loss is the model's own. align finds a planted permutation.
need_torch 2.4 transformers
export OMP_NUM_THREADS=1
$python - <<'END'
import copy
import mcz, mcz.torch, numpy as np, torch
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel


def gpt2(seed):
    torch.manual_seed(seed)
    return GPT2LMHeadModel(GPT2Config(vocab_size=30, n_positions=8, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0,
                                      use_cache=False))


def bert(seed):
    torch.manual_seed(seed)
    return BertForSequenceClassification(BertConfig(
        vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12, max_position_embeddings=8,
        num_labels=3))


def batch(make, n, length):
    ids, mask = torch.randint(1, 30, (n, length)), torch.ones(n, length, dtype=torch.long)
    mask[0, length - 2:] = 0
    return {"input_ids": ids, "attention_mask": mask,
            "labels": ids.masked_fill(mask == 0, -100) if make is gpt2 else torch.randint(3, (n,))}


for make in gpt2, bert:
    a, b = make(1), make(2)
    data = [batch(make, *shape) for shape in ((5, 7), (3, 7), (3, 4), (1, 6))]
    line = mcz.torch.Curve(a, b, control_points=0)
    row = line.evaluate(data, points=2, progress=False)[0]
    a.eval()
    with torch.no_grad():
        outputs = [a(**x) for x in data]
    weights = [int((x["labels"] != -100).sum()) for x in data]
    mean = sum(float(o.loss) * w for o, w in zip(outputs, weights)) / sum(weights)
    assert abs(row["data.loss"] - mean) < 1e-5, (row, mean)
    assert ("data.accuracy" in row) == (make is bert)
    if make is bert:
        right = sum(int((o.logits.argmax(1) == x["labels"]).sum()) for o, x in zip(outputs, data))
        assert abs(row["data.accuracy"] - 100 * right / sum(weights)) < 1e-9
    own = line.evaluate(data, points=2, progress=False, loss=lambda o, y: o.loss)[0]["data.loss"]
    assert abs(own - sum(float(o.loss) * len(x["labels"]) for o, x in zip(outputs, data)) / 12) < 1e-5
    p = mcz.torch.align(a, b, data[:2], progress=False)
    curve = mcz.torch.Curve(a, b, p)
    before = curve.evaluate(data, points=3, progress=False)[1]["data.loss"]
    curve.train(data, epochs=20, optimizer=lambda q: torch.optim.Adam(q, .02), progress=False)
    assert curve.evaluate(data, points=3, progress=False)[1]["data.loss"] < before - .1
    merged = mcz.torch.merge(a, b, p, loader=data)
    assert type(merged) is type(a) and torch.isfinite(merged(**data[2]).loss)
    planted = {g: np.random.default_rng(3).permutation(n) for g, n in p.groups.sizes.items()}
    moved = mcz.torch.permute(copy.deepcopy(a), planted, p.groups)
    assert (moved(**data[0]).logits - outputs[0].logits).abs().max() < 1e-5
    found = mcz.torch.align(a, moved, data[:2], p.groups, progress=False)
    mcz.torch.permute(moved, found, p.groups)
    assert all(torch.equal(u, v) for u, v in zip(a.state_dict().values(), moved.state_dict().values()))
END
