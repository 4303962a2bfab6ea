# SPDX-License-Identifier: Apache-2.0
# align.sh fails if any stage fails, and leaves no output; usage errors.
fixture pair recoverable
align=$MC_ROOT/pipelines/align.sh
[ -z "$small" ] || export ACTS="mc-acts $small"
cp a.mcz old.mcz
no_files() { [ ! -e back.mcz ] && [ ! -e p.mcz ] && ! compgen -G '*part*' >/dev/null || die "left something"; }
head -c 5000 a.mcz >cut.mcz
for with in '' '-p p.mcz'; do
    rc=0
    bash "$align" -d data.mcz $with cut.mcz q.mcz -o back.mcz 2>err || rc=$?
    [ $rc = 3 ] && grep -q 'mc-acts: cut.mcz: ' err && no_files || die "$rc: $(cat err)"
    for stage in ACTS CORR ASSIGN PERMUTE; do
        rc=0
        env $stage=false bash "$align" -d data.mcz $with a.mcz q.mcz -o back.mcz 2>err || rc=$?
        [ $rc != 0 ] && no_files || die "$stage=false: $rc"
    done
done
cp old.mcz back.mcz
ASSIGN=false bash "$align" -d data.mcz a.mcz q.mcz -o back.mcz 2>err && die "status 0"
same old.mcz back.mcz
rm back.mcz
MEASURE=cosine bash "$align" -d data.mcz a.mcz q.mcz -o back.mcz 2>err && die "status 0"
grep -q "unknown value 'cosine'" err
no_files
bash "$align" -h | head -n 1 | grep -q '^Usage: '
fails 2 "-d is required" bash "$align" a.mcz b.mcz
fails 2 "two networks expected*got 1" bash "$align" -d data.mcz a.mcz
fails 2 "unknown option '-x'" bash "$align" -x
fails 2 "-o requires*file" bash "$align" -o
fails 2 "inputs*files" bash "$align" -d data.mcz a.mcz -
