# SPDX-License-Identifier: Apache-2.0
# A unit 10^9 times larger than the others does not change how these are matched, by distances. Values for which optimality
# cannot be proved end mc-hungarian with status 1 and no output.
mc-data synth --samples 64 --size 8 -o d.mcz
mc-train -q -t 1 --net mlp:32,12 --data d.mcz --batch 16 --epochs 1 -o n.mcz
py <<'END'
s = mcz.read("n.mcz")
t = {k: v.copy() for k, v in s.tensors.items()}
for k in list(t)[:2]:
    t[k][5] = abs(t[k][5]) * 1e9  # on: the mean of its inputs is above 0
t[list(t)[2]][:, 5] *= 1e-9
mcz.write("huge.mcz", s.kind, s.meta, t)

a, b = (2.0 ** np.random.default_rng(seed).uniform(-100, 100, 24) for seed in (1, 2))
groups = [{"name": "g", "size": 24, "taps": 1, "dead_a": [], "dead_b": []}]
mcz.write("steep.mcz", "matrices", {"measure": "score", "at": "post", "groups": groups},
          {"g": np.outer(a, b)})
END
mc-permute --random 3 --perm-out planted.mcz huge.mcz -o q.mcz
mc-acts -q -t 1 -d d.mcz --samples 64 --at pre huge.mcz q.mcz | mc-corr -q --measure l2 -o l2.mcz
mc-hungarian -v l2.mcz -o p.mcz 2>errors
check_recovery planted.mcz p.mcz l2.mcz
fails_unchanged 1 "steep.mcz: g: no assignment*24 rows*proven optimal (" mc-hungarian steep.mcz -o x.mcz
