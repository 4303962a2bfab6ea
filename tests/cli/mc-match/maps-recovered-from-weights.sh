# SPDX-License-Identifier: Apache-2.0
# mc-match --maps recovers planted maps of every kind from weights alone. Between networks apart, no map of a group raises the
# objective further: NumPy's best map of each is the identity. --init may have matrices.
/usr/bin/python3 -c 'import scipy' 2>/dev/null || exit 77
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/mapped_net.py"
mc-convert -q a.safetensors --groups g.tsv -o a.mcz
mc-permute --random 2 --perm-out planted.mcz a.mcz -o moved.mcz
mc-match -v --maps a.mcz moved.mcz -o p.mcz --log-json log.json 2>errors
expect_equal "$(grep -cE '^mc-match: (stream: 6 units, centred|head[01]: 4 units, orthogonal|mlp: 5 units, signed|rotary: 4 units, rotation|turned: 4 units, half-turn), value' errors)" 6
mc-permute --compose planted.mcz p.mcz -o one.mcz
py <<'END'
one = mcz.read("one.mcz")
assert all(np.abs(v - (np.arange(2) if k == "heads" else np.eye(len(v)))).max() < 1e-6 for k, v in one.tensors.items())
assert float([json.loads(l) for l in open("log.json")][-1]["distance"]) < 1e-5
assert mcz.read("p.mcz").meta["version"] == 3
END
mc-match -q --maps -t 1 a.mcz moved.mcz | same_content - p.mcz
mc-match -q --maps --init p.mcz a.mcz moved.mcz --log-json log.json -o again.mcz
expect_equal "$(wc -l <log.json)" 2
py <<'END'
import mcz.safetensors
a = mcz.read("moved.mcz").tensors
mcz.safetensors.write("b.safetensors", {k: v + np.random.RandomState(len(k)).randn(*v.shape).astype("f4") for k, v in a.items()})
END
mc-convert -q b.safetensors --groups g.tsv -o b.mcz
mc-match -q --maps a.mcz b.mcz --log-json log.json -o p.mcz
mc-permute p.mcz b.mcz -o pb.mcz
py <<'END'
from scipy.optimize import linear_sum_assignment
log = [json.loads(l) for l in open("log.json")]
assert all(y["objective"] >= x["objective"] for x, y in zip(log, log[1:])) and log[-1]["objective"] > 2 * log[0]["objective"]
a, b = ({k: v.astype("f8") for k, v in mcz.read(f).tensors.items()} for f in ("a.mcz", "pb.mcz"))
assert abs(sum((a[k] * b[k]).sum() for k in a) / log[-1]["objective"] - 1) < 1e-6
def product(*uses):
    return sum(np.moveaxis(a[k], d, 0).reshape(a[k].shape[d], -1) @ np.moveaxis(b[k], d, 0).reshape(a[k].shape[d], -1).T for k, d in uses)
stream = product(("emb", 1), ("q", 1), ("o", 0), ("up", 1), ("down", 0), ("gate", 1), ("c", 0), ("d", 1), ("r", 1), ("bias", 0), ("t", 1))
basis = np.linalg.qr(np.c_[np.ones(6), np.eye(6)[:, 1:]])[0][:, 1:]
heads = product(("q", 0), ("o", 1))
def close(gain, value):
    assert gain <= 1e-4 * abs(value), (gain, value)
for c in basis.T @ stream @ basis, heads[:4, :4], heads[4:, 4:]:
    close(np.linalg.norm(c, "nuc") - np.trace(c), np.trace(c))
crossed = np.linalg.norm(heads[:4, 4:], "nuc") + np.linalg.norm(heads[4:, :4], "nuc")
close(max(0, crossed - np.trace(heads)), np.trace(heads))
mlp = product(("up", 0), ("down", 1))  # with signs; the gate has none
score = np.abs(mlp) + product(("gate", 0))
close(score[linear_sum_assignment(-score)].sum() - np.trace(mlp + product(("gate", 0))), np.trace(score))
r = np.einsum("ike,jke->ij", a["r"][1:].reshape(4, 2, -1), b["r"][1:].reshape(4, 2, -1))
for r in r[::2, ::2], r[1::2, 1::2]:
    close(np.hypot(np.trace(r), r[1, 0] - r[0, 1]) - np.trace(r), np.trace(r))
turned = (a["t"] * b["t"]).sum(1)[1:5].reshape(2, 2).sum(0)
assert (turned > 0).all()
END
for word in "groups x" "seed 1" joint; do
    fails 2 "--${word%% *} has no effect with --maps" mc-match --maps --$word a.mcz b.mcz
done
