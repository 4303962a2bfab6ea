# SPDX-License-Identifier: Apache-2.0
# publish refuses an experiment in which a make runs, and a make refuses a folder that publish uses. publish waits for the jobs
# of a killed make. A folder that its user cannot write has no make.
publish=$MC_ROOT/pipelines/paper/publish
set -- connect NET=mlp:4
graph "$@"
echo 'epochs=2' >out/length
"$publish" keep out kept

# a job that waits for `open`
cat >job <<'END'
#!/bin/bash
touch begun
until [ -e open ] || [ ! -e job ]; do sleep .02; done
exec "$@"
END
chmod +x job
(launcher='exec' && graph "$@" EPOCHS=1 CHANGE=yes RUN="$PWD/job") >graph.out 2>&1 &
make=$!
until [ -e begun ]; do sleep .02; done
for command in "keep out new" "tables out new" "make kept out"; do
    fails 1 "publish: OUT=out: in use*make $make*$(uname -n): wait" "$publish" $command
done
fails 1 "publish: OUT=out: in use*make $make" "$publish" keep "$PWD/out/" new
[ ! -e new ] || die 'it published'
"$publish" make kept made

# the make is killed alone
kill -9 $make
wait $make 2>/dev/null || true
"$publish" tables out new 2>err &
until [ -s err ]; do sleep .02; done
expect_words err 'publish: OUT=out: waiting*make: *(job)'
(launcher='timeout 600' && graph "$@") >graph.out 2>&1 && die 'a make runs while publish works'
expect_words graph.out "make: OUT=out: in use*publish $!*$(uname -n)"
touch open
wait $! || die "$(cat err)"
same out/table.tsv new/table.tsv
