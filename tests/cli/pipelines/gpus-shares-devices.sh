# SPDX-License-Identifier: Apache-2.0
# gpus.sh: no two jobs on a GPU, several where they may be, all GPUs in use; a job's status and signals are its
# own; a killed job frees its GPU. Without any GPU.
export MC_GPU_LOCKS=$PWD/locks
gpus=$MC_ROOT/pipelines/gpus.sh

fails 2 'which GPUs?' "$gpus" true
fails 2 'a command is needed' "$gpus" 0 1
fails 2 '-n 0: a number' "$gpus" -n 0 0 true
fails 2 "no option '-x'" "$gpus" -x 0 true
fails 2 "no command 'nothing-here'" "$gpus" 0 nothing-here
[ ! -e locks ] || die 'a lock of no job'
for h in -h --help; do "$gpus" $h >help && grep -q '^Usage: gpus.sh' help; done
touch file
MC_GPU_LOCKS=file fails 1 "'file' is no folder of yours" "$gpus" 0 true

# the job's own: arguments, GPU, status, signal
[ "$("$gpus" 7 printf '%s|' 'a b' 3)" = 'a b|3|' ]
[ "$("$gpus" 7 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER')" = '7 PCI_BUS_ID' ]
rc=0
"$gpus" 7 sh -c 'exit 3' || rc=$?
[ $rc = 3 ] || die "status $rc"
rc=0
"$gpus" 7 sh -c 'kill -TERM $$' || rc=$?
[ $rc = 143 ] || die "status $rc of a job that was terminated"

# 24 jobs on three GPUs, and two at a time on each of two: a job that finds its place taken fails
cat >job <<'END'
for place in 0 $1; do mkdir "place.$CUDA_VISIBLE_DEVICES.$place" 2>/dev/null && break || place=; done
[ -n "$place" ] || exit 9
echo "$CUDA_VISIBLE_DEVICES" >>seen
sleep .02
rmdir "place.$CUDA_VISIBLE_DEVICES.$place"
END
many() { # PLACE GPUS.SH'S ARGUMENTS...
    local place=$1 i pids=()
    shift
    for i in {1..24}; do
        "$gpus" "$@" bash job "$place" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || die "status $? of a job of gpus.sh $*"; done
}
many 0 0 2 5
[ "$(wc -l <seen)" = 24 ] && [ -z "$(grep -vx '[025]' seen)" ] || die "$(cat seen)"
many 1 -n 2 0 1

# all at the same time: each goes on only when the others are there too
cat >meet <<'END'
touch "here.$1.$CUDA_VISIBLE_DEVICES"
until [ "$(ls | grep -c "^here.$1")" = 3 ]; do sleep .02; done
END
for i in 1 2 3; do timeout 60 "$gpus" 4 5 6 bash meet a & done
wait
for i in 4 5 6; do [ -e here.a.$i ] || die "GPU $i was left idle"; done

# killed: as a job, and while it waits for the one that has the GPU
mkfifo started
"$gpus" 0 bash -c 'echo >started; exec sleep 1000' &
job=$!
read -r <started
"$gpus" 0 touch wrong 2>waits &
waits=$!
until [ -s waits ]; do sleep .02; done
[ "$(<waits)" = 'gpus.sh: waiting for one of the GPUs 0' ] || die "$(<waits)"
kill "$waits"
rc=0
wait "$waits" || rc=$?
[ $rc = 143 ] && [ ! -e wrong ] || die "a waiting job ended with $rc"
kill -KILL $job
wait $job || true
timeout 60 "$gpus" 0 touch right
[ -e right ] && [ ! -e wrong ] || die 'the GPU of a killed job is not free'

# behind a make graph
make -s -j4 -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" RUN="$gpus 0 1" DEVICE=cpu DATA=synth TRAIN_IMAGES=64 \
    TEST_IMAGES=64 NET=mlp:8 EPOCHS=1 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out
[ -s out/table.tsv ]
# what computes has the device that was named
make -n -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DEVICE=cuda:1 DATA=synth NET=mlp:8 OUT=other >log
[ "$(grep -cE '(mc-train|mc-acts|mc-bezier --data|mc-eval) ' log)" = \
    "$(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' log | grep -c -- '--device cuda:1')" ] || die "$(cat log)"
