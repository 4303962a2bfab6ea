# SPDX-License-Identifier: Apache-2.0
# mc-info --check enforces the rules of each kind's page: a sound stream with one change is refused with status 3 and a
# message about it. Each change is in the meta (a path and a value) or in the tensors.
py "$MC_ROOT/formats/samples" <<'END' >cases
import copy
GONE = object()
nan, long = float("nan"), lambda n: "x" * n
rows = mcz.read(sys.argv[1] + "/good-weights-groups.mcz").meta["symmetry"]
def first(name, value):
    def change(t):
        next(v for k, v in t.items() if name in k).flat[0] = value
    return change
def all_as(dtype):
    return lambda t: t.update({k: v.astype(dtype) for k, v in t.items()})
def scaled(name, factor):
    return lambda t: t.update({name: t[name] * np.float32(factor)})
n = 0
def bad(why, kind, *change):
    """change: a function of the tensors, or a path in meta and a value"""
    global n
    s = mcz.read("%s/good-%s.mcz" % (sys.argv[1], kind))
    meta, t = copy.deepcopy(s.meta), {k: v.copy() for k, v in s.tensors.items()}
    if len(change) == 1:
        t = change[0](t) or t
    else:
        *path, key, value = change
        at = meta
        for k in path:
            at = at[k]
        if value is GONE:
            del at[key]
        else:
            at[key] = value
    n += 1
    mcz.write("%d.mcz" % n, s.kind, meta, t)
    print("%d.mcz" % n, why, sep="\t")

for key in "tool", "settings", "epoch", "version":
    bad('"%s" is missing' % key, "checkpoint", key, GONE)
bad("checkpoint version 3", "checkpoint", "version", 3)
bad('"tool"*longer*63', "checkpoint", "tool", long(64))
bad('"tool" is not', "checkpoint", "tool", 3)
bad('setting "lr"*not a string*at most 199 bytes', "checkpoint", "settings", "lr", .1)
bad('setting "lr"*not a string*at most 199 bytes', "checkpoint", "settings", "lr", long(200))
bad('"settings" is not', "checkpoint", "settings", [])
bad('"epoch" is not', "checkpoint", "epoch", 1.5)
bad('"epoch"*at most', "checkpoint", "epoch", 1 << 32)
for dtype in "u1", "f8", "f2", "i4":
    bad('tensor "point"*not float32 (n)', "checkpoint", all_as(dtype))
bad('tensor "point"*not float32 (n)', "checkpoint", lambda t: {"point": t["point"][None]})
bad('"point"*not finite', "checkpoint", first("point", nan))

bad('"at"*post*pre (got "mid")', "matrices", "at", "mid")
bad("l2*not have", "matrices", "measure", "l2")
bad('unit 0*"dead_b"*values', "matrices", "groups", 0, "dead_b", [0])
bad('unit 1*"dead_a"*values', "matrices", "groups", 0, "dead_a", [1])
bad('"within" is missing', "matrices", "groups", 0, "unit", 0)

for key in "value", "bound", "gap", "ties":
    bad('"%s" is missing' % key, "permutation", "groups", 0, key, GONE)
    bad('"%s" is not' % key, "permutation", "groups", 0, key, "x")
    bad('"%s" is not' % key, "permutation", "groups", 0, key, nan)
bad('"ties"*at most 3 (got 4)', "permutation", "groups", 0, "ties", 4)
bad('"within" is missing', "permutation", "groups", 0, "unit", 0)
for key in "version", "members":
    bad('"%s" is missing' % key, "permutation-joint", key, GONE)
bad("permutation version 1", "permutation-joint", "version", 1)
bad('"members"*list 2 to 1024 networks (got 1)', "permutation-joint", "members", ["0" * 32])
bad("entry 0*not a content id", "permutation-joint", "members", ["0" * 31 + "A"] * 3)
bad('"members" lists %s twice' % ("0" * 32), "permutation-joint", "members", ["0" * 32] * 3)
bad("tensors expected*got 3", "permutation-joint", "members", ["0" * 32, "1" * 32])
bad('member 2: group "layers.0.linear": entry 0*9', "permutation-joint", first("2/", 9))
bad("permutation version 4", "permutation-matrices", "version", 4)
bad("must be float32 (6,6)*got int32", "permutation-matrices", lambda t: t.update(stream=np.arange(6, dtype="i4")))
bad("must be int32 (6)*got float32", "permutation-matrices", "version", GONE)
bad("must be int32 (6)*got float32", "permutation-matrices", "groups", 0, "map", GONE)
bad('group heads: "map" must be signed, rotation, half-turn, orthogonal or centred', "permutation-matrices", "groups", 1, "map", "permutation")
bad('"heads"*signed*contains groups', "permutation-matrices", "groups", 1, "map", "signed")
bad('"mlp": rotation requires an even number of units (got 5)', "permutation-matrices", "groups", 4, "map", "rotation")
for name in "head1", "stream", "rotary", "mlp":
    bad('group "%s": the matrix is not' % name, "permutation-matrices", scaled(name, 1.001))
    bad('group "%s": the matrix is not' % name, "permutation-matrices", first(name, nan))
bad('group "stream": the matrix is not centred', "permutation-matrices", scaled("stream", -1))
bad('group "rotary": the matrix is not rotation', "permutation-matrices", lambda t: t.update(rotary=t["rotary"][::-1].copy()))
bad('group "rotary": the matrix is not half-turn', "permutation-matrices", "groups", 5, "map", "half-turn")
bad('group "head0": the matrix is not signed', "permutation-matrices", "groups", 2, "map", "signed")
bad('"allows" must be signed', "moments", "groups", 0, "allows", "permutation")
bad('"allows" must be signed', "matrices", "groups", 0, "allows", 1)
bad('rotation requires an even number of units (got 3)', "moments", "groups", 0, "allows", "rotation")

bad('both*"graph"*"symmetry"', "weights", "symmetry", rows)
for text in "# c\n" + rows, rows + "\n", rows[:-1], rows.replace("\n", "\r\n"), rows + "# c\n":
    bad('"symmetry"*comments, empty lines*line without*newline', "weights-groups", "symmetry", text)

other = lambda t: {**{k: v for k, v in t.items() if k[:4] != "perm"}, "permutation/x": np.arange(3, dtype="i4")}
bad("tensor 12 must", "curve", other)
bad("tensor 12 must", "curve", "groups", 0, "name", "x")
bad('"seed" without*"attack"', "moments", "seed", 1)
bad('"seed" is missing', "moments", "attack", "pgd")
END
[ "$(wc -l <cases)" -gt 45 ]
while IFS=$'\t' read -r file why; do fails 3 "$why" mc-info --check "$file"; done <cases

# a curve's permutation must fit its network
py "$MC_ROOT/formats/samples" <<'END'
s = mcz.read(sys.argv[1] + "/good-curve.mcz")
t = dict(list(s.tensors.items())[:-1])
mcz.write("name.mcz", "curve", {**s.meta, "groups": [{"name": "x", "size": 3}]}, {**t, "permutation/x": np.arange(3, dtype="i4")})
mcz.write("size.mcz", "curve", {**s.meta, "groups": [{"name": "layers.0.linear", "size": 2}]},
          {**t, "permutation/layers.0.linear": np.arange(2, dtype="i4")})
# an evaluation has five float64 per point and data set, each as two halves, and as many again for an attack
def save(name, tool="mc-eval", epoch=1, n=20, value=0., **settings):
    x = np.full(n, value, "f4")
    mcz.write(name + ".mcz", "checkpoint", {"version": 2, "tool": tool, "settings": {"points": "2", **settings}, "epoch": epoch},
              {"test": x, "report": x})
save("eval")
save("halves", value=np.nan)
save("attacked", n=40, attack="pgd")
save("pam", tool="mc-pam")
save("short", n=19)
save("unattacked", n=40)
save("above", epoch=3)
save("report", tool="mc-train", value=np.nan)
mcz.write("pointless.mcz", "checkpoint", {"version": 2, "tool": "mc-eval", "settings": {}, "epoch": 0}, {"test": np.zeros(0, "f4")})
x = np.ones(4, "f4")
meta = {"version": 2, "tool": "mc-pam", "settings": {}, "epoch": 1}
mcz.write("pam-report.mcz", "checkpoint", meta, {"report": x * np.nan, "stats": x})
mcz.write("pam-stats.mcz", "checkpoint", meta, {"report": x * np.nan, "stats": x * np.nan})
END
fails 3 'name.mcz: ' mc-info --check name.mcz
fails 3 'size.mcz: ' mc-info --check size.mcz
for good in eval halves attacked pam pam-report; do mc-info --check -q $good.mcz; done
fails 3 'short.mcz: tensor "test"*19 numbers*not fit 2 points' mc-info --check short.mcz
fails 3 'unattacked.mcz: tensor "test"*40 numbers*not fit 2 points' mc-info --check unattacked.mcz
fails 3 'above.mcz: "epoch"*3 of 2 points' mc-info --check above.mcz
fails 3 'pointless.mcz: "points"*missing' mc-info --check pointless.mcz
fails 3 'report.mcz: "test"*not finite' mc-info --check report.mcz
fails 3 'pam-stats.mcz: "stats"*not finite' mc-info --check pam-stats.mcz

# checkpoints that programs write pass
mc-data synth --samples 96 --size 8 -o d.mcz
on="-q -t 1 --data d.mcz"
mc-train $on --net mlp:bn,8 --batch 32 --epochs 2 --stop-after 1 --checkpoint train.ck -o a.mcz
mc-train $on --net mlp:bn,8 --batch 32 --epochs 1 --seed 2 -o b.mcz
mc-train $on --net mlp:bn,8 --batch 32 --epochs 1 --precision f32 -o c.mcz
mc-pam $on --batch 32 --permutation-epochs 1 --epochs 1 --outer 2 --stop-after 2 --checkpoint pam.ck b.mcz c.mcz -o pam.mcz
mc-bezier $on --batch 32 --epochs 2 --stop-after 1 --checkpoint curve.ck b.mcz c.mcz -o curve.mcz
mc-eval $on --points 2 --checkpoint eval.ck curve.mcz --bn-data d.mcz -o x.tsv
mc-eval $on --points 2 --checkpoint attack.ck --attack pgd:eps=4/255,steps=1 curve.mcz --bn-data d.mcz -o x.tsv
for ck in train pam curve eval attack; do mc-info --check $ck.ck | grep -q "^$ck.ck: ok, kind checkpoint"; done
