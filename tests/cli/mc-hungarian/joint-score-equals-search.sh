# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --joint --score prints the objective of a joint set: that of the search for its result, for each reference that
# of the permutations to it, and the sum of the diagonals for unaligned networks. Networks are found by their ids.
fixture joint
all="m12.mcz m13.mcz m23.mcz"
mc-hungarian -q --joint $all -o j.mcz --table found.tsv
mc-hungarian --joint --score j.mcz $all >score.tsv
same score.tsv <(cut -f 1-3 found.tsv)
mc-hungarian --joint --score j.mcz m23.mcz m21.mcz m13.mcz -o turned.tsv
expect_equal "$(awk '{ printf "%.6f ", $3 }' turned.tsv)" "$(awk '{ printf "%.6f ", $3 }' score.tsv)"
# a set of more networks than the matrices
mc-hungarian --joint --score j.mcz m13.mcz >pair.tsv

for m in 12 13 23; do mc-hungarian -q m$m.mcz -o p$m.mcz; done
mc-permute --join 1.mcz p12.mcz p13.mcz -o to1.mcz
mc-permute --join 2.mcz p12.mcz p23.mcz -o to2.mcz
mc-permute --join 3.mcz p13.mcz p23.mcz -o to3.mcz
mc-permute --join 1.mcz 2.mcz 3.mcz -o none.mcz
for f in to1 to2 to3 none; do mc-hungarian --joint --score - $all <$f.mcz >$f.tsv; done
py <<'END'
def total(name, column=2):
    return float(open(name).read().splitlines()[-1].split("\t")[column])
for i in (1, 2, 3):
    assert abs(total("to%d.tsv" % i) - total("found.tsv", 2 + i)) < 1e-6, i
m = {s: mcz.read("m%s.mcz" % s).tensors for s in ("12", "13", "23")}
assert abs(total("none.tsv") - sum(np.trace(x) for t in m.values() for x in t.values())) < 1e-6
j = mcz.read("j.mcz").tensors
assert abs(total("pair.tsv") - sum(x[j["1/" + g], j["3/" + g]].sum() for g, x in m["13"].items())) < 1e-6
END

# units that contain channels: the search's result has the search's objective
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 32 --size 16 -o images.mcz
for s in 1 2 3; do mc-train -q -t 1 --net ./blocks.json --data images.mcz --batch 16 --epochs 0 --seed $s -o b$s.mcz; done
for m in 12 13 23; do mc-acts -q -t 1 -d images.mcz b${m%?}.mcz b${m#?}.mcz | mc-corr -q -o b$m.mcz; done
mc-hungarian -q --joint b12.mcz b13.mcz b23.mcz -o bj.mcz --table found.tsv
mc-hungarian --joint --score bj.mcz b12.mcz b13.mcz b23.mcz | same <(cut -f 1-3 found.tsv) -

mc-permute --join 1.mcz p12.mcz -o two.mcz
fails 3 "two.mcz: no member*network $(id 3.mcz | cut -c1-8)*matrices" mc-hungarian --joint --score two.mcz $all
fails 3 "p12.mcz:*joint set expected*one permutation" mc-hungarian --joint --score p12.mcz $all
fails 3 "bj.mcz: no member*network" mc-hungarian --joint --score bj.mcz $all
fails 3 "permutation expected*weights" mc-hungarian --joint --score 1.mcz $all
usage_error "--score*no effect*without --joint" mc-hungarian --score j.mcz m12.mcz
for option in "--starts 3" "--seed 2" "--table t.tsv" "--groups *"; do
    usage_error "${option%% *}*no effect*with --score*searches nothing" mc-hungarian --joint --score j.mcz $option $all
done
