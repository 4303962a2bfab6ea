# SPDX-License-Identifier: Apache-2.0
# measures.mk: a curve for every way of aligning, one table and one picture; a second run does nothing; what
# connect.mk made is taken; each measure's permutation is the best by its own measure.
. "$MC_ROOT/tests/cli/lib.bash"

graph() {
    make -f "$MC_ROOT/pipelines/$1.mk" BIN="$MC_BUILD/bin" DATA=synth TRAIN_IMAGES=512 TEST_IMAGES=200 \
        NET=mlp:bn,16 LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out "${@:2}" >log || die "$(cat log)"
}
# jobs: the programs that the last run started
jobs() { { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'; }
is() { [ "$1" = "$2" ] || die "'$1' is not '$2': $(cat log)"; }

graph connect
graph measures 2>told
is "$(jobs)" 'mc-acts1 mc-bezier3 mc-corr2 mc-eval3 mc-hungarian3 mc-permute3 mc-plot4 '
is "$(grep -c multiplier told)" 1
graph measures
is "$(jobs)" ''
is "$(cut -f 1 out/1-2/measures.tsv | paste -sd ' ')" 'path unaligned correlation l2-post l2-pre constrained'
is "$(cut -f 3 out/measures.tsv | paste -sd ' ')" 'path unaligned correlation l2-post l2-pre constrained'
is "$(sed -n 2p out/1-2/measures.tsv | cut -f 2-)" "$(sed -n 's/^curve-unaligned.//p' out/1-2/table.tsv)"
for f in out out/1-2; do [ -s $f/measures.svg ] && [ -s $f/measures.png ]; done
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
value = {}
for m in "", "-l2-post", "-l2-pre":
    value[m] = mcz.read("out/1-2/matrices%s.mcz" % m)
assert [value[m].meta["at"] for m in value] == ["post", "post", "pre"]
assert [value[m].meta["measure"] for m in value] == ["correlation", "l2", "l2"]
perms = {m: mcz.read("out/1-2/permutation%s.mcz" % m) for m in list(value) + ["-constrained"]}
for group, C in value[""].tensors.items():
    total = lambda m, p: value[m].tensors[group][range(len(C)), perms[p].tensors[group]].sum()
    for m in value:
        assert all(total(m, m) >= total(m, p) - 1e-12 for p in perms), (m, group)
    assert total("-l2-pre", "-constrained") >= value["-l2-pre"].tensors[group].trace()
    assert len({tuple(perms[m].tensors[group]) for m in value}) > 1  # they are not all one
END
graph measures POINTS=5
is "$(jobs)" 'mc-eval5 mc-plot4 '
(graph measures CORR_FLAGS='--measure l2') >refused 2>&1 && die 'a row would not be what it is called'
grep -q -- '--measure and --at are what this graph compares' refused
