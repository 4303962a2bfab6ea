# SPDX-License-Identifier: Apache-2.0
# mc-align has the status and message of a program that fails, and leaves no output and no temporary file; usage errors.
fixture pair recoverable
export TMPDIR=$PWD/temporary
mkdir temporary
head -c 5000 a.mcz >cut.mcz
fails 3 'mc-acts: cut.mcz: ' mc-align -q --data data.mcz cut.mcz q.mcz -o back.mcz
fails 3 'mc-match: cut.mcz: ' mc-align -q cut.mcz q.mcz -o back.mcz
cp a.mcz back.mcz
rc=0
mc-align -q --data data.mcz --assign 'sh -c "exit 9"' a.mcz q.mcz -o back.mcz 2>errors || rc=$?
expect_equal $rc 9
same a.mcz back.mcz
fails 2 "unknown value 'cosine'" mc-align -q --data data.mcz --measure cosine a.mcz q.mcz -o back.mcz
for p in permute merge repair eval plot; do
    # mc-align uses the programs in its folder
    rm -rf bin && mkdir bin
    for f in "$MC_BUILD"/bin/mc-*; do [ "${f##*/}" = mc-$p ] || ln -s "$f" bin/; done
    rm bin/mc-align
    cp "$MC_BUILD/bin/mc-align" bin
    printf '#!/bin/sh\necho "mc-%s: broken" >&2; exit 3\n' $p >bin/mc-$p
    chmod +x bin/mc-$p
    rc=0
    bin/mc-align -q --data data.mcz --merge --plot line.svg a.mcz q.mcz -o none.mcz 2>errors || rc=$?
    [ $rc = 3 ] && [ "$(tail -n 1 errors)" = "mc-$p: broken" ] || die "$rc: $(cat errors)"
    [ ! -e none.mcz ] || die "mc-$p fails: an output"
done
expect_equal "$(ls temporary)" ''
usage_error 'operands A.mcz*B.mcz' mc-align --data data.mcz a.mcz
usage_error "unexpected argument 'c'" mc-align a.mcz b.mcz c
usage_error "option '-o' requires a value" mc-align -o
usage_error 'inputs*files' mc-align a.mcz -
usage_error '--data*--groups exclude' mc-align --data data.mcz --groups g.tsv a.mcz q.mcz
cp q.mcz aligned.mcz
usage_error '--keep aligned.mcz and B.mcz*same file' mc-align --keep . --data data.mcz a.mcz aligned.mcz -o x.mcz
fails_unchanged 1 "cannot write 'none/x.mcz'" mc-align --data data.mcz a.mcz q.mcz -o none/x.mcz
usage_error "'x.npz' must be a stream" mc-align --data data.mcz a.mcz q.mcz -o x.npz
usage_error "'x.jpg' must end in" mc-align --data data.mcz --plot x.jpg a.mcz q.mcz -o x.mcz
usage_error '--plot requires --data' mc-align --plot x.svg a.mcz q.mcz
usage_error '--merge requires --data' mc-align --merge a.mcz q.mcz
usage_error '--at*require --data' mc-align --at pre a.mcz q.mcz
