# SPDX-License-Identifier: Apache-2.0
# align.sh fails if any of its stages fails, and leaves no file; it checks its own usage.
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
fails 2 "-d is needed" bash "$align" a.mcz b.mcz
fails 2 "two networks are needed, 1 are given" bash "$align" -d data.mcz a.mcz
fails 2 "there is no option '-x'" bash "$align" -x
fails 2 "-o needs a file" bash "$align" -o
fails 2 "inputs must be files" bash "$align" -d data.mcz a.mcz -
