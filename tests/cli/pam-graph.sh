# SPDX-License-Identifier: Apache-2.0
# pam.mk: curves as they are and by mc-pam, from the identity and from the alignment; a second run does nothing;
# what connect.mk made is taken; the table of the objective adds up; a killed run goes on.
. "$MC_ROOT/tests/cli/lib.bash"

# graph NAME SETTING...: with now='exec setsid', as a job, it leads a group of processes of its own
now=
graph() {
    $now make -f "$MC_ROOT/pipelines/$1.mk" BIN="$MC_BUILD/bin" DATA=synth DATA_FLAGS='--size 8' TRAIN_IMAGES=512 \
        TEST_IMAGES=100 NET=mlp:bn,16 LR=0.02 EPOCHS=2 CURVE_EPOCHS=2 POINTS=3 THREADS=1 OUT=out "${@:2}" >log ||
        die "$(cat log)"
}
pam() { graph pam PERMUTATION_EPOCHS=2 PAM_FLAGS='--outer 2 --permutation-lr 1 --select-images 256' "$@"; }
# jobs: the programs that the last run started
jobs() { { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'; }
is() { [ "$1" = "$2" ] || die "'$1' is not '$2': $(cat log)"; }

graph connect
pam
is "$(jobs)" 'mc-bezier2 mc-eval4 mc-pam2 mc-permute2 mc-plot4 '
pam
is "$(jobs)" ''
pam -n
is "$(jobs)" ''
names='line-unaligned curve-unaligned line-aligned curve-aligned line-pam-unaligned curve-pam-unaligned line-pam-aligned curve-pam-aligned'
is "$(sed 1d out/1-2/pam.tsv | cut -f 1 | paste -sd ' ')" "$names"
is "$(sed 1d out/pam.tsv | cut -f 3 | paste -sd ' ')" "$names"
is "$(grep aligned out/1-2/table.tsv | sort)" "$(grep -v pam- out/1-2/pam.tsv | sed 1d | sort)"
for f in out out/1-2; do [ -s $f/pam.svg ] && [ -s $f/pam.png ]; done
is "$(find out -name '*.checkpoint')" ''

# the aligned one starts from the alignment, the other from the identity, and both have moved
mc-permute --identity out/net-2.mcz -o identity.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END_OF_PYTHON'
import json
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
for name, start in ("unaligned", "identity.mcz"), ("aligned", "out/1-2/permutation.mcz"):
    curve = mcz.read("out/1-2/curve-pam-%s.mcz" % name).tensors
    start = mcz.read(start).tensors
    b = mcz.read("out/1-2/b-pam-%s.mcz" % name).tensors
    assert all(np.array_equal(curve[n], b[n[2:]]) for n in curve if n.startswith("2/"))
    steps = [json.loads(l) for l in open("out/1-2/curve-pam-%s.log.json" % name)]
    moved = [s["moved"] for s in steps if s["event"] == "permutation"]
    apart = sum((curve["permutation/" + g] != p).sum() for g, p in start.items())
    assert len(moved) == 2 and apart <= sum(moved), (apart, moved)
    if not moved[1]:
        assert apart == moved[0]
    assert name == "aligned" or moved[0]
END_OF_PYTHON

# objective.tsv: a row an iteration, whose numbers add up to as many digits as they have
is "$(sed 1d out/1-2/objective.tsv | cut -f 1-3 | paste -sd ' ' | tr '\t' /)" \
    '1-2/curve-pam-unaligned/1 1-2/curve-pam-unaligned/2 1-2/curve-pam-aligned/1 1-2/curve-pam-aligned/2'
same out/objective.tsv out/1-2/objective.tsv
paste <(column out/objective.tsv before) <(column out/objective.tsv after_permutation) \
    <(column out/objective.tsv proximal_permutation) <(column out/objective.tsv after_curve) \
    <(column out/objective.tsv proximal_curve) <(column out/objective.tsv decrease) >numbers
awk 'NF != 6 { exit 1 }
    { d = $1 - $4 - $3 - $5 - $6; if (d * d > 1e-9) exit 1; if ($3 < 0 || $5 <= 0) exit 1 }
    # the second iteration begins where the first ended
    NR % 2 == 0 { d = $1 - last; if (d * d > 1e-9) exit 1 } { last = $4 }' numbers || die "$(cat out/objective.tsv)"
[ "$(column out/objective.tsv moved | sed -n 1p)" != 0 ] || die "$(cat out/objective.tsv)"
paste <(column out/objective.tsv moved) <(column out/objective.tsv kept) |
    awk '($1 == 0) != ($2 == "previous") { exit 1 }' || die "$(cat out/objective.tsv)"
is "$(column out/objective.tsv proximal_permutation | sed -n 1p)" \
    "$(column out/objective.tsv moved | awk 'NR == 1 { print $1 / 1000 }')"

# the matrices and their projection have weight decays of their own
/usr/bin/python3 - <<'END_OF_PYTHON'
import csv
import json
rows = list(csv.DictReader(open("out/1-2/objective.tsv"), delimiter="\t"))
steps = [json.loads(l) for n in ("unaligned", "aligned") for l in open("out/1-2/curve-pam-%s.log.json" % n)]
steps = [s for s in steps if s["event"] == "permutation"]
assert len(rows) == len(steps) == 4
for row, s in zip(rows, steps):
    for name in "relaxed", "projection":
        assert abs(float(row[name]) - s["loss_" + name] - s["decay_" + name]) < 1e-4, (row, s)
    assert s["decay_projection"] != s["decay_before"] or s["loss_projection"] == s["loss_before"], s
assert steps[0]["decay_relaxed"] != steps[0]["decay_before"], steps[0]
END_OF_PYTHON

# the loss in training: that of the last curve epoch; connect.mk leaves the rows
/usr/bin/python3 - <<'END_OF_PYTHON'
import csv
import json
rows = {r["training"]: r for r in csv.DictReader(open("out/training.tsv"), delimiter="\t")}
assert list(rows) == ["network", "curve-unaligned", "curve-aligned", "curve-pam-unaligned", "curve-pam-aligned"], rows
for name in "unaligned", "aligned":
    log = [json.loads(l) for l in open("out/1-2/curve-pam-%s.log.json" % name)]
    last = [e for e in log if e["event"] == "epoch"][-1]
    row = rows["curve-pam-" + name]
    assert last["epoch"] == 8 and (row["runs"], row["epochs"]) == ("1", "2"), (last, row)
    assert abs(float(row["objective"]) - last["objective"]) <= 0.50001e-4, (last, row)
END_OF_PYTHON
cp out/training.tsv before.tsv
graph connect
same out/training.tsv before.tsv
for what in accuracy loss; do
    is "$("$MC_ROOT/pipelines/tables.sh" -f tsv $what out | cut -f 3 | paste -sd ' ')" 'curve unaligned pam-unaligned pam-aligned aligned'
done
# a step of permutations alone has no curve epoch
table() { awk -v network=n -v data=d -f "$MC_ROOT/pipelines/spread.awk" -f "$MC_ROOT/pipelines/training.awk" name=x "$@" | sed 1d | cut -f 4-6; }
grep -v iteration out/1-2/curve-pam-aligned.log.json | sed '/permutation/q' >steps.json
is "$(table steps.json)" ''
sed '/iteration/q' out/1-2/curve-pam-aligned.log.json >steps.json
is "$(table steps.json)" "1	2	$(grep '"epoch":4,' steps.json | sed 's/.*"objective":\([0-9.]*\).*/\1/' | awk '{ printf "%.4f", $1 }')"

# a permutation step's settings are mc-pam's alone
pam PERMUTATION_EPOCHS=1
is "$(jobs)" 'mc-bezier2 mc-eval4 mc-pam2 mc-permute2 mc-plot4 '
(pam NO_SUCH=1) >refused 2>&1 && die 'an unknown setting passes'
grep -q "no setting 'NO_SUCH'" refused
(pam CURVE_FLAGS='--stop-after 20') >refused 2>&1 && die 'the epochs of another step are counted'
grep -q -- 'CURVE_FLAGS: --stop-after counts' refused

# killed, the same command goes on to the same bytes
pam TRAIN_IMAGES=4096 OUT=whole
(
    now='exec setsid'
    pam TRAIN_IMAGES=4096 OUT=cut &
    for ((i = 0; i < 6000; i++)); do
        [ -n "$(find cut -name 'curve-pam-*checkpoint' 2>/dev/null)" ] && break
        sleep .02
    done
    kill -9 -- -$!
) 2>/dev/null
[ ! -e cut/1-2/pam.tsv ] || die 'it was done before it was killed'
pam TRAIN_IMAGES=4096 OUT=cut
is "$(grep -c '^mc-train' log)" 0
for f in curve-pam-unaligned.mcz curve-pam-aligned.mcz b-pam-aligned.mcz pam.tsv objective.tsv; do
    same whole/1-2/$f cut/1-2/$f
done
is "$(find cut whole -name '*.checkpoint')" ''
