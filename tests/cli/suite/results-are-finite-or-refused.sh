# SPDX-License-Identifier: Apache-2.0
# Finite inputs whose result overflows float64 end with status 3 and one line, without inf, nan or a file.
mc-data synth --samples 24 --size 8 -o d.mcz
for s in 1 2; do mc-train -q -t 1 --net mlp:2,2,2,2,2,2,2,2,2 --data d.mcz --batch 8 --epochs 0 --seed $s -o n$s.mcz; done
mc-acts -q -t 1 --at pre -d d.mcz n1.mcz n2.mcz -o m.mcz
mc-train -q -t 1 --net mlp:8 --data d.mcz --batch 8 --epochs 0 -o wide.mcz
mc-acts -q -t 1 --at pre -d d.mcz --samples 2 wide.mcz wide.mcz -o wide-m.mcz
py <<'END'
for name in "n1", "n2":  # norms of 1e38 each: their product overflows
    s = mcz.read(name + ".mcz")
    mcz.write("huge-%s.mcz" % name, s.kind, s.meta,
              {k: v * np.float32(1e36 if v.ndim == 2 else 1) for k, v in s.tensors.items()})
s = mcz.read("m.mcz")
mcz.write("any-m.mcz", s.kind, s.meta, s.tensors)  # moments that name no networks
s = mcz.read("wide-m.mcz")
mcz.write("huge-m.mcz", s.kind, s.meta,  # finite distances whose sum overflows
          {k: np.full(v.shape, 8e307 if "sumsq" in k else 0.) for k, v in s.tensors.items()})
groups = [{"name": "g", "size": 3, "taps": 1, "dead_a": [], "dead_b": []}]
for measure in "score", "l2":
    for at in "post", "pre":
        mcz.write("%s-%s.mcz" % (measure, at), "matrices", {"measure": measure, "at": at, "groups": groups},
                  {"g": np.full((3, 3), -1e308)})
t = np.linspace(0, 1, 3)
data = {"points": 3, "data": [{"name": "test", "id": "0" * 32, "images": 4}]}
rng = np.random.default_rng(1)
for name, chord in ("long", 1.7e308), ("fine", 1.):
    mcz.write(name + ".mcz", "losses", data, {"t": t, "chord": np.full(2, chord),
        "test/loss": rng.random((3, 4), dtype=np.float32), "test/correct": np.ones((3, 4), dtype=np.uint8)})
END
refuses() {
    fails_unchanged 3 "$@"
    ! grep -qwE -- '-?(inf|nan)' err.fails out.fails || die "${*:2}: $(cat err.fails out.fails)"
}
mc-bootstrap -q -r 100 fine.mcz >table
refuses "long.mcz: arc_mean:*not finite" mc-bootstrap -r 100 long.mcz
refuses "long.mcz: arc_mean:*not finite" mc-bootstrap -r 100 fine.mcz long.mcz -o out.tsv
mc-bound n1.mcz n2.mcz any-m.mcz >table
refuses "bound*huge-n1.mcz and huge-n2.mcz:*not finite" mc-bound huge-n1.mcz huge-n2.mcz any-m.mcz
refuses "bound*huge-n1.mcz and huge-n2.mcz:*not finite" mc-bound huge-n1.mcz huge-n2.mcz any-m.mcz --path p.tsv -o b.tsv
refuses "huge-m.mcz: tap layers.0.linear:*distance*not finite" mc-bound wide.mcz wide.mcz huge-m.mcz
for m in score l2; do
    refuses "$m-post.mcz: g:*sum*matched values*not finite" mc-hungarian -v $m-post.mcz -o p.mcz
    refuses "$m-post.mcz: g: " mc-hungarian --constraint $m-pre.mcz $m-post.mcz
done
