# SPDX-License-Identifier: Apache-2.0
# align.sh recovers a planted permutation, lets every stage be swapped, and fails at its last stage
# when any stage fails.
. "$MC_ROOT/tests/cli/lib.bash"
. "$MC_ROOT/tests/cli/pair.bash"

align=$MC_ROOT/pipelines/align.sh
[ -z "$small" ] || export ACTS="mc-acts $small"
some=$((total / 4))
mc-permute --random 5 --perm-out planted.mcz a.mcz -o q.mcz
mc-train -q -t 1 --net mlp:24,16 --data data.mcz --samples $images --epochs 2 -o mlp.mcz
mc-permute --random 6 --perm-out mlp-planted.mcz mlp.mcz -o mlp-q.mcz

# recovered PLANTED PERM A B [OPTION...]: seen as mc-acts does with these options
recovered() {
    mc-acts --data data.mcz $small "${@:5}" "$3" "$4" | mc-corr -q -o c.mcz
    /usr/bin/python3 "$MC_ROOT/tests/cli/recovered.py" "$1" "$2" c.mcz
}

bash "$align" -d data.mcz -p p.mcz a.mcz q.mcz -o pq.mcz 2>/dev/null
recovered planted.mcz p.mcz a.mcz q.mcz
mc-permute p.mcz q.mcz -o x.mcz && same pq.mcz x.mcz
bash "$align" -d data.mcz a.mcz q.mcz >x.mcz 2>/dev/null
[ "$(id x.mcz)" = "$(id pq.mcz)" ]
bash "$align" -d data.mcz -p p.mcz mlp.mcz mlp-q.mcz -o pq.mcz 2>/dev/null
recovered mlp-planted.mcz p.mcz mlp.mcz mlp-q.mcz

# each ablation point; before the ReLU every unit lives
SAMPLES=$some AT=pre THREADS=1 bash "$align" -d data.mcz -p p.mcz a.mcz q.mcz -o back.mcz
recovered planted.mcz p.mcz a.mcz q.mcz --samples $some --at pre
[ "$(id back.mcz)" = "$(id a.mcz)" ]
AT=pre ASSIGN="/usr/bin/python3 $MC_ROOT/formats/python/example_assign.py" \
    bash "$align" -d data.mcz -p p2.mcz a.mcz q.mcz -o back.mcz
[ "$(id back.mcz)" = "$(id a.mcz)" ]
mc-acts --data data.mcz --at pre a.mcz q.mcz | mc-corr --measure l2 -o pre.mcz
MEASURE=l2 ASSIGN="mc-hungarian --constraint pre.mcz" bash "$align" -d data.mcz -p p.mcz a.mcz q.mcz -o back.mcz
recovered planted.mcz p.mcz a.mcz q.mcz

# on a network that it was not found for, a permutation is applied, and that is told
told() { # what it says, or nothing; command
    "${@:2}" >x.mcz 2>err
    [ "$(cat err)" = "$1" ] || die "${*:2}: $(cat err)"
}
told '' mc-permute p.mcz q.mcz
told 'mc-permute: p.mcz was found for another network than a.mcz' mc-permute p.mcz a.mcz
told '' mc-permute --inverse p.mcz back.mcz
mc-permute --compose p.mcz p.mcz -o pp.mcz
told '' mc-permute pp.mcz a.mcz
mc-acts --data data.mcz $small --samples $some a.mcz q.mcz -o aq.mcz
mc-acts --data data.mcz $small --samples $some q.mcz a.mcz -o qa.mcz
told '' mc-corr --signature --perm p.mcz aq.mcz
told 'mc-corr: p.mcz was found between other networks than those of the moments' mc-corr --signature --perm p.mcz qa.mcz
mc-corr -q aq.mcz | mc-hungarian -q --no-history -o bare.mcz
told '' mc-permute bare.mcz a.mcz

# whichever stage fails, the last one does, and nothing appears
cp back.mcz old.mcz
rm back.mcz p.mcz
gone() { [ ! -e back.mcz ] && [ ! -e p.mcz ] && [ -z "$(ls | grep part)" ] || die "left something"; }
head -c 5000 a.mcz >cut.mcz
for with in '' '-p p.mcz'; do
    rc=0
    bash "$align" -d data.mcz $with cut.mcz q.mcz -o back.mcz 2>err || rc=$?
    [ $rc = 3 ] && grep -q 'mc-acts: cut.mcz: ' err && gone
    for stage in ACTS CORR ASSIGN PERMUTE; do
        rc=0
        env $stage=false bash "$align" -d data.mcz $with a.mcz q.mcz -o back.mcz 2>err || rc=$?
        [ $rc != 0 ] && gone || die "$stage=false: $rc"
    done
done
cp old.mcz back.mcz
ASSIGN=false bash "$align" -d data.mcz a.mcz q.mcz -o back.mcz 2>err && die "status 0"
same old.mcz back.mcz
rm back.mcz
MEASURE=cosine bash "$align" -d data.mcz a.mcz q.mcz -o back.mcz 2>err && die "status 0"
grep -q "there is no 'cosine'" err && gone

# its own usage
bash "$align" -h | head -n 1 | grep -q '^Usage: '
fails 2 "-d is needed" bash "$align" a.mcz b.mcz
fails 2 "two networks are needed, 1 are given" bash "$align" -d data.mcz a.mcz
fails 2 "there is no option '-x'" bash "$align" -x
fails 2 "-o needs a file" bash "$align" -o
fails 2 "inputs must be files" bash "$align" -d data.mcz a.mcz -
