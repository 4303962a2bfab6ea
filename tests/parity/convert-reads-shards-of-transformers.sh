# SPDX-License-Identifier: Apache-2.0
# mc-convert, mcz.safetensors.read and mcz.torch.load read the shards that transformers' save_pretrained writes: every bit of
# the state_dict. A permuted network returns to transformers with the same logits. Networks of bfloat16 and float16 keep their bits,
# and points of the line between two are rounded as PyTorch rounds.
need_torch 2.4 transformers
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
cat >save.py <<'END'
import torch
from transformers import GPT2Config, GPT2LMHeadModel
from mcz import groups
torch.manual_seed(3)
net = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=4, n_embd=32, vocab_size=61, n_positions=16)).eval()
net.save_pretrained("sharded", max_shard_size="50KB")
net.save_pretrained("single")
for dtype in torch.bfloat16, torch.float16:
    for end in "a", "b":
        torch.manual_seed(ord(end))
        half = GPT2LMHeadModel(net.config).to(dtype)
        half.save_pretrained("%s-%s" % (end, str(dtype)[6:]), max_shard_size="50KB")
width, rows = 128, []
for i in range(2):  # Conv1D's weights are (in, out)
    for tensor, axis in ("c_fc.weight", 1), ("c_fc.bias", 0), ("c_proj.weight", 0):
        rows.append(groups.Row("transformer.h.%d.mlp.%s" % (i, tensor), axis, 0, width, 1, "h%d.mlp" % i))
groups.write("g.tsv", rows)
END
$python save.py 2>errors || die "$(tail -n 3 errors)"
[ "$(find sharded -name '*.safetensors' | wc -l)" -ge 3 ] || die "one shard only: $(ls sharded)"
for in in sharded sharded/model.safetensors.index.json single; do mc-convert $in --groups g.tsv -o ${in//\//-}.mcz; done
same_content sharded.mcz single.mcz
same_content sharded-model.safetensors.index.json.mcz single.mcz
mc-permute --random 4 single.mcz -o p.mcz
different_content p.mcz single.mcz
mkdir back
cp single/*.json back
mc-convert p.mcz -o back/model.safetensors
cat >compare.py <<'END'
import torch
from transformers import GPT2LMHeadModel
import mcz.torch
net, back = (GPT2LMHeadModel.from_pretrained(f).eval() for f in ("single", "back"))
tokens = torch.arange(24).reshape(2, 12)
with torch.no_grad():
    a, b = (n(tokens).logits for n in (net, back))
print("logits up to %.3g, differing by %.2g" % (a.abs().max(), (a - b).abs().max()))
assert a.abs().max() > .1 and (a - b).abs().max() < 1e-5
assert not torch.equal(net.transformer.h[0].mlp.c_fc.weight, back.transformer.h[0].mlp.c_fc.weight)
state = net.state_dict()
found = mcz.safetensors.read("sharded")
assert set(state) - set(found) == {"lm_head.weight"}  # tied
assert all(torch.equal(torch.from_numpy(v.copy()), state[k]) for k, v in found.items())
for p in back.parameters():
    p.data.zero_()
mcz.torch.load(back, "sharded", strict=False)
assert all(torch.equal(v, state[k]) for k, v in back.state_dict().items())
END
$python compare.py 2>errors || die "$(tail -n 3 errors)"

cat >narrow.py <<'END'
import sys
import torch
from transformers import GPT2LMHeadModel
import mcz.torch
from mcz import groups
from mcz.modules.network import Network
dtype = getattr(torch, sys.argv[1])
a, b, moved, middle = ({k: v for k, v in GPT2LMHeadModel.from_pretrained(d, torch_dtype=dtype).state_dict().items()}
                       for d in ("a-" + sys.argv[1], "b-" + sys.argv[1], "moved", "middle"))
bits = lambda v: v.contiguous().view(torch.int16)
p = mcz.read("p.mcz").tensors
rows = groups.read("g.tsv")
assert {v.dtype for v in moved.values()} == {v.dtype for v in middle.values()} == {dtype}
for k, v in b.items():
    for row in (r for r in rows if r.tensor == k):
        v = v.index_select(row.axis, torch.from_numpy(p[row.group]).long())
    assert torch.equal(bits(v), bits(moved[k])), k
    assert torch.equal(bits((.75 * a[k].double() + .25 * b[k].double()).float().to(dtype)), bits(middle[k])), k
# into modules: the same bits in one of that type, exact values in a wider one
for kind in dtype, torch.float32:
    net = GPT2LMHeadModel.from_pretrained("single").to(kind)
    mcz.torch.load(net, "b.mcz", strict=False)
    assert all(torch.equal(v, b[k].to(kind)) for k, v in net.state_dict().items())
net = GPT2LMHeadModel.from_pretrained("b-" + sys.argv[1], torch_dtype=dtype)
del net.lm_head  # tied, which files omit
assert Network(net, rows).id() == mcz.torch.save(net, "saved.mcz", rows) == mcz.read("b.mcz").id
c = mcz.torch.Curve.load("line.mcz", net)
assert torch.equal(c.points[0]["transformer.wte.weight"], a["transformer.wte.weight"].float())
END
for type in bfloat16 float16; do
    for n in a b; do mc-convert $n-$type --groups g.tsv -o $n.mcz; done
    mc-permute --random 6 --perm-out p.mcz b.mcz -o moved.mcz
    mc-bezier --epochs 0 --control-points 0 a.mcz b.mcz -o line.mcz
    mc-bezier --point .25 line.mcz -o middle.mcz
    for n in moved middle; do
        rm -rf $n && mkdir $n
        cp a-$type/config.json $n
        mc-convert $n.mcz -o $n/model.safetensors
    done
    $python narrow.py $type 2>errors || die "$type: $(tail -n 3 errors)"
done
