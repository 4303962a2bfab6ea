# SPDX-License-Identifier: Apache-2.0
# On a CPU, activations so small that their squares vanish in float32 make a unit constant: its sums pass every check, its
# correlation is 0. Activations whose squares exceed float32 are refused.
mc-data synth --samples 300 --size 8 -q -o d.mcz
for seed in 1 2; do mc-train -q -t 1 --net mlp:16,16 --data d.mcz --epochs 1 --seed $seed -o n$seed.mcz; done
py <<'END'
s = mcz.read("n1.mcz")
for power in -18, -24, -30, -36, 25:
    for units in "one", "all":
        t = {k: v.copy() for k, v in s.tensors.items()}
        for k in t:
            if k.startswith("layers.0.linear."):
                t[k][3 if units == "one" else slice(None)] *= np.float32(10.) ** power
        mcz.write("%s%d.mcz" % (units, power), s.kind, s.meta, t)
END
for units in one all; do
    for power in -18 -24 -30 -36; do
        for at in post pre; do
            mc-acts -q -t 1 --device cpu --data d.mcz --at $at $units$power.mcz n2.mcz -o m.mcz
            mc-info -q --check m.mcz || die "$units $power $at"
            mc-corr m.mcz -o c.mcz 2>err
            [ $units = one ] && dead='1 (3)' || dead='16 (0'
            grep -qF "of 16 units, $dead" err || die "$units $power $at: $(<err)"
            mc-hungarian -q c.mcz -o p.mcz
        done
    done
    fails 3 "activations*layers.0.relu*not finite*too large" mc-acts -q -t 1 --device cpu --data d.mcz ${units}25.mcz n2.mcz -o x.mcz
done
