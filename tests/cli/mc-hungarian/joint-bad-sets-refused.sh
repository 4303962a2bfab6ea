# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --joint requires the matrices of every pair of networks once, on the same data and from the same layers.
fixture joint

joint() { mc-hungarian --joint "$@" -o x.mcz; }
fails 3 "--joint: no matrices*networks $(id 2.mcz | cut -c1-8) and $(id 3.mcz | cut -c1-8) (3 networks*3 pairs*got 2)" joint m12.mcz m13.mcz
fails 3 "m21.mcz:*same networks*m12.mcz" joint m12.mcz m13.mcz m21.mcz
fails 3 "m12.mcz:*same networks*m12.mcz" joint m12.mcz m12.mcz
py <<'END'
def changed(name, source, change):
    s = mcz.read(source)
    change(s)
    mcz.write(name, s.kind, s.meta, s.tensors, s.history)
def args(s):
    return next(e for e in s.history if e["tool"] == "mc-acts")["args"]
def other_data(s):
    next(e for e in s.history if e["tool"] == "mc-data")["args"].append(["shuffle", 3])
def set_samples(s):
    next(a for a in args(s) if a[0] == "samples")[1] += 1
def same_networks(s):
    args(s)[1][1] = args(s)[0][1]
def no_id(s):
    args(s)[1][1] = args(s)[1][1].upper()[:30] + "XY"
def rename(s):
    s.meta["groups"][0]["name"] = "other"
    s.tensors = {"other" if i == 0 else k: v for i, (k, v) in enumerate(s.tensors.items())}
def fewer(s):
    name = s.meta["groups"].pop()["name"]
    del s.tensors[name]
changed("unknown.mcz", "m13.mcz", lambda s: s.history.clear())
changed("twin.mcz", "m13.mcz", same_networks)
changed("no-id.mcz", "m13.mcz", no_id)
changed("data.mcz", "m13.mcz", other_data)
changed("samples.mcz", "m13.mcz", set_samples)
changed("pre.mcz", "m13.mcz", lambda s: s.meta.update(at="pre"))
changed("measure.mcz", "m13.mcz", lambda s: s.meta.update(measure="mine"))
changed("renamed.mcz", "m13.mcz", rename)
changed("fewer.mcz", "m13.mcz", fewer)
END
fails 3 "unknown.mcz:*not record*networks" joint m12.mcz unknown.mcz m23.mcz
fails 3 "no-id.mcz:*not record*networks" joint m12.mcz no-id.mcz m23.mcz
fails 3 "twin.mcz: both networks*$(id 1.mcz)" joint m12.mcz twin.mcz
for f in data samples; do
    fails 3 "$f.mcz: measured*other data*m12.mcz" joint m12.mcz $f.mcz m23.mcz
done
fails 3 "pre.mcz: correlation*post expected*m12.mcz*got correlation*pre" joint m12.mcz pre.mcz m23.mcz
fails 3 "measure.mcz: correlation*post expected*m12.mcz*got mine*post" joint m12.mcz measure.mcz m23.mcz
fails 3 "renamed.mcz: group layers.0.linear of 12 units expected*m12.mcz*got other*12" joint m12.mcz renamed.mcz m23.mcz
fails 3 "fewer.mcz: 2 groups expected*m12.mcz*got 1" joint m12.mcz fewer.mcz m23.mcz
fails 3 "expected, got weights" joint m12.mcz 1.mcz
[ ! -e x.mcz ] || die "an output is left"
usage_error "--constraint*--joint*combined" mc-hungarian --joint --constraint m12.mcz m13.mcz
usage_error "missing: operand MATRICES.mcz" mc-hungarian --joint
for option in "--starts 3" "--seed 2" "--table t.tsv"; do
    usage_error "no effect*without --joint" mc-hungarian $option m12.mcz
done
