# SPDX-License-Identifier: Apache-2.0
# A training that is not finite, even only after its last step, writes no output and no checkpoint.
mc-data synth --samples 256 -o d.mcz
mc-train --net mlp:8 --data d.mcz --epochs 1 -o a.mcz
fails 1 'not finite' mc-train --net mlp:8 --data d.mcz --lr 1e6 --epochs 3 -o no.mcz
# only the last step overflows, after all losses
py <<'END'
w = mcz.read("a.mcz")
into, bias, out, _ = [k for k in w.tensors if k.endswith(("weight", "bias"))]
w.tensors[into] = np.zeros_like(w.tensors[into])
w.tensors[bias] = np.full_like(w.tensors[bias], 1e-30)
w.tensors[out] = 1e36 * np.sign(np.random.default_rng(1).standard_normal(w.tensors[out].shape)).astype("f4")
mcz.write("steep.mcz", w.kind, w.meta, w.tensors)
END
steep="mc-train --data d.mcz --batch 256 --epochs 1 --init steep.mcz --weight-decay 0"
$steep --lr 1e-12 -o flat.mcz
fails 1 "not finite after epoch 1" $steep --lr 1e6 --checkpoint no.state -o no.mcz
[ ! -e no.state ] || die 'a checkpoint of a run that is not finite'
[ ! -e no.mcz ] || die 'an output of a run that is not finite'
