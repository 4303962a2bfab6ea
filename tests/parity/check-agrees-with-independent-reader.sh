# SPDX-License-Identifier: Apache-2.0
# mc-info --check agrees with a second reader, written from the pages of the kinds, on a few thousand changed streams of every
# kind.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
# more than the samples: integers for mean and std, groups within units, shards under an attack, a line with rows, rows of parts
# and of one order in all units, an evaluation
py "$MC_ROOT/formats/samples" <<'END'
from mcz import groups as mcz_groups
def sample(kind):
    return mcz.read("%s/good-%s.mcz" % (sys.argv[1], kind))
s = sample("dataset")
mcz.write("dataset-whole.mcz", s.kind, {**s.meta, "mean": [-3], "std": [1], "augment": {
    "rotate": 90, "flip": False, "pad": 0, "turn": 180, "scale": .9, "contrast": 1, "saturation": .5}}, s.tensors)
found = {"value": 2.5, "bound": 2.5, "gap": 0, "ties": 1}
groups = [{"name": "g", "size": 2, **found}] + [{"name": "h%d" % i, "size": 3, "within": 0, "unit": i} for i in range(2)]
mcz.write("permutation-units.mcz", "permutation", {"groups": groups}, {
    g["name"]: np.arange(g["size"], dtype="i4")[::-1].copy() for g in groups})
dead = {"taps": 1, "dead_a": [], "dead_b": []}
a = np.linspace(-1, 1, 36).reshape(6, 6)
a[1] = 0
mcz.write("matrices-units.mcz", "matrices", {"measure": "correlation", "at": "pre", "groups": [
    {"name": "g", "size": 2, **dead}, {"name": "h0", "size": 3, "within": 0, "unit": 0, **dead, "dead_a": [1]},
    {"name": "h1", "size": 3, "within": 0, "unit": 1, **dead}]}, {"h0": a})
mcz.write("matrices-l2.mcz", "matrices", {"measure": "l2", "at": "post", "groups": [{"name": "g", "size": 6, **dead}]}, {"g": a - 1})
tap = {"name": "t", "group": 1, "start": 0, "count": 6, "samples": 24}
mcz.write("moments-cut.mcz", "moments", {"version": 2, "at": "post", "groups": [
    {"name": "g", "size": 2}, *groups[1:]], "taps": [tap], "images": 6, "shards": 3, "counted": [0, 2], "total": 8, "batch": 2,
    "attack": "pgd", "seed": 7, "precision": "bf16"}, {"0/t/" + p: np.ones((6,) * (1 + (p == "cross"))) for p in (
        "sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross")})
for kind in "matrices", "moments":
    s = mcz.read(kind + ("-units.mcz" if kind == "matrices" else "-cut.mcz"))
    mcz.write(kind + "-allows.mcz", kind, {**s.meta, "groups": [{**g, "allows": "orthogonal"} if "within" in g else g for g in s.meta["groups"]]},
              s.tensors)
s = sample("weights-groups")
shapes = {k: v.shape for k, v in s.tensors.items()}
rows, sizes = mcz_groups.rows([mcz_groups.parse(line.split("\t")) for line in s.meta["symmetry"].splitlines()[1:]], shapes)
inner, names = mcz_groups.nesting(rows, shapes), list(sizes)
mcz.write("curve-rows.mcz", "curve", {**s.meta, "curve": "chain", "points": 2, "groups": [{"name": g, "size": n, **(
    {"within": names.index(inner[g][0]), "unit": inner[g][1]} if g in inner else {})} for g, n in sizes.items()]}, {
        **{"%d/%s" % (i, k): v for i in range(2) for k, v in s.tensors.items()},
        **{"permutation/" + g: np.arange(n, dtype="i4") for g, n in sizes.items()}})
rows = [("b", 0, 0, 2, 6, "kv"), ("w", 0, 0, 2, 6, "kv"), ("w", 1, 0, 2, 1, "i0", 2), ("w", 1, 3, 2, 1, "i1", 2)]
for i in range(2):
    rows += [("b", 0, 6 * i, 2, 3, "q%d" % i)] + [("b", 0, 6 * i + 3 * r, 3, 1, "v%d" % i) for r in range(2)]
parts = {"b": np.arange(12, dtype="f4"), "w": np.ones((12, 3), "f4")}
rows, _ = mcz_groups.rows(rows, {k: v.shape for k, v in parts.items()})
mcz.write("weights-parts.mcz", "weights", {**s.meta, "symmetry": mcz_groups.text(rows)}, parts)
for name, more, n in ("eval", {}, 20), ("attacked", {"attack": "pgd"}, 40):
    mcz.write("checkpoint-%s.mcz" % name, "checkpoint", {"version": 2, "tool": "mc-eval", "settings": {"points": "2", **more}, "epoch": 1},
              {"test": np.full(n, np.nan, "f4")})
mcz.write("checkpoint-pam.mcz", "checkpoint", {"version": 2, "tool": "mc-pam", "settings": {"lr": "0.1"}, "epoch": 3},
          {"report": np.full(4, np.nan, "f4"), "stats": np.ones(3, "f4")})
END
mkdir changed
cd changed
$python "$MC_ROOT/tests/parity/mutated_streams.py" "${SEED:-1}" "${COUNT:-4000}" "$MC_ROOT"/formats/samples/good-*.mcz ../*.mcz
