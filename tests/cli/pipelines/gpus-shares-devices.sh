# SPDX-License-Identifier: Apache-2.0
# gpus.sh runs one job per GPU, or the given number, under MPS. It uses all GPUs, passes on a job's status and signals, and
# frees the GPU of a killed job. This test needs no GPU.
export MC_GPU_LOCKS=$PWD/locks
gpus=$MC_ROOT/pipelines/cluster/gpus.sh
mkdir smi
printf '#!/bin/sh\n[ ! -e four ] || for i in 0 1 2 3; do echo "GPU $i: a card"; done\n' >smi/nvidia-smi
chmod +x smi/nvidia-smi
PATH=$PWD/smi:$PATH

fails 2 'GPU*required before*command' "$gpus" true
fails 2 'command*required' "$gpus" 0 1
fails 2 '0:0: GPU:JOBS expected' "$gpus" 0:0 true
fails 2 '1:many: GPU:JOBS expected' "$gpus" 0:2 1:many true
fails 2 '0:: GPU:JOBS expected' "$gpus" 0: true
fails 2 'separate arguments' "$gpus" '0:2 1:1' true
fails 2 'separate arguments' "$gpus" 0 '1 2' true
fails 2 "unknown option '-x'" "$gpus" -x 0 true
fails 2 "unknown command 'nothing-here'" "$gpus" 0 nothing-here
touch four
fails 2 'unknown GPU 4 (nvidia-smi -L lists 0 to 3)' "$gpus" 0 4 true
rm four
[ ! -e locks ] || die 'a lock without a job'
for h in -h --help; do
    "$gpus" $h >help
    grep -q '^Usage: gpus.sh' help
done
touch file
MC_GPU_LOCKS='file' fails 1 "lock directory 'file'*not owned*you" "$gpus" 0 true

# a job's arguments, GPU, status and signals
[ "$("$gpus" 7 printf '%s|' 'a b' 3)" = 'a b|3|' ]
[ "$("$gpus" 7 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER')" = '7 PCI_BUS_ID' ]
rc=0
"$gpus" 7 sh -c 'exit 3' || rc=$?
[ $rc = 3 ] || die "status $rc"
rc=0
"$gpus" 7 sh -c 'kill -TERM $$' || rc=$?
[ $rc = 143 ] || die "status $rc of a job that was terminated"

# 24 jobs on three GPUs, then with two at a time on one GPU; a job whose slot is in use fails
cat >job <<'END'
[ "$CUDA_VISIBLE_DEVICES" != 1 ] || set -- 0
for place in 0 $1; do mkdir "place.$CUDA_VISIBLE_DEVICES.$place" 2>/dev/null && break || place=; done
[ -n "$place" ] || exit 9
echo "$CUDA_VISIBLE_DEVICES" >>devices
sleep .02
rmdir "place.$CUDA_VISIBLE_DEVICES.$place"
END
run_jobs() { # PLACE ARGUMENT...: of gpus.sh
    local place=$1 i pids=()
    shift
    for i in {1..24}; do
        "$gpus" "$@" bash job "$place" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || die "status $? of a job of gpus.sh $*"; done
}
run_jobs 0 0 2 5
[ "$(wc -l <devices)" = 24 ] && [ -z "$(grep -vx '[025]' devices)" ] || die "$(cat devices)"
# an MPS daemon that cannot start, then one that lists its calls
mkdir bin
cat >bin/nvidia-cuda-mps-control <<'END'
#!/bin/bash
[ ! -e "$MC_GPU_LOCKS/refuses" ] || { echo 'first line'; echo 'not permitted here'; exit 1; } >&2
case ${1-$(cat)} in
-d)
    [ ! -e "$CUDA_MPS_PIPE_DIRECTORY/control" ] && [ -d "$CUDA_MPS_LOG_DIRECTORY" ] || exit 1
    echo "start $CUDA_VISIBLE_DEVICES" >>"$MC_GPU_LOCKS/calls"
    touch "$CUDA_MPS_PIPE_DIRECTORY/control"
    ;;
get_server_list) [ -e "$CUDA_MPS_PIPE_DIRECTORY/control" ] ;;
quit)
    rm "$CUDA_MPS_PIPE_DIRECTORY/control" || exit 1
    echo "stop $CUDA_MPS_PIPE_DIRECTORY" >>"$MC_GPU_LOCKS/calls"
    ;;
*) exit 2 ;;
esac
END
chmod +x bin/nvidia-cuda-mps-control
PATH=$PWD/bin:$PATH
touch locks/refuses
run_jobs 1 0:2 1 2>errors
expect_equal "$(grep -v '^gpus.sh: waiting for one' errors | sort -u)" 'gpus.sh: GPU 0: no MPS, 2 jobs take turns: not permitted here'
mkdir few
for c in bash cat mkdir flock timeout tail setsid env dirname; do ln -s "$(command -v $c)" few; done
expect_equal "$(PATH=$PWD/few "$gpus" 3:2 bash -c 'echo $CUDA_VISIBLE_DEVICES; "$1" 3:2 bash -c "echo second"; true' - "$gpus" 2>&1)" \
    $'gpus.sh: GPU 3: no MPS, 2 jobs take turns: nvidia-cuda-mps-control is missing\n3\nsecond'
rm locks/refuses

# under MPS, each GPU has a daemon that numbers GPUs from 0. Its jobs use its pipes, the last job stops it, and the next job
# starts it again.
stopped() { # GPU: waits until nothing runs there
    until [ ! -e locks/$1.mps/pipe/control ] && flock -n locks/$1.mps/stops true; do sleep .02; done
}
cat >meet <<'END'
mkdir "$CUDA_MPS_PIPE_DIRECTORY/$1"
until [ "$(ls -d locks/[0-9].mps/pipe/job* | wc -l)" = 5 ]; do sleep .02; done
[ -e "$CUDA_MPS_PIPE_DIRECTORY/control" ] && echo "$CUDA_VISIBLE_DEVICES ${CUDA_MPS_PIPE_DIRECTORY%/pipe}" >>mps
END
for i in 1 2 3 4 5; do timeout 60 "$gpus" 0:3 4:2 bash meet job$i & done
wait
expect_equal "$(sort mps | uniq -c | tr -s ' ' | tr '\n' ,)" " 3 0 $PWD/locks/0.mps, 2 0 $PWD/locks/4.mps,"
stopped 0
stopped 4
expect_equal "$(sort locks/calls)" "start 0
start 4
stop $PWD/locks/0.mps/pipe
stop $PWD/locks/4.mps/pipe"
rm -r locks/calls locks/?.mps/pipe/job*
# also after a killed job; the daemon and the process that stops it hold no slot
mkfifo ready
"$gpus" 4:2 bash -c 'echo >ready; exec sleep 1000' &
job=$!
read -r <ready
kill -KILL $job
wait $job || true
stopped 4
expect_equal "$(cut -c1-7 locks/calls)" $'start 4\nstop '"${PWD:0:2}"
timeout 60 "$gpus" 4 true
# an existing MPS daemon is used; a GPU with one slot gets none
expect_equal "$(CUDA_MPS_PIPE_DIRECTORY=own "$gpus" 5:2 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_MPS_PIPE_DIRECTORY')" '5 own'
expect_equal "$("$gpus" 5 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_MPS_PIPE_DIRECTORY')" 5
[ ! -e locks/5.mps ]

# all GPUs at a time: each job waits for the others
cat >meet <<'END'
touch "job.$1.$CUDA_VISIBLE_DEVICES"
until [ "$(ls | grep -c "^job.$1")" = 3 ]; do sleep .02; done
END
for i in 1 2 3; do timeout 60 "$gpus" 4 5 6 bash meet a & done
wait
for i in 4 5 6; do [ -e job.a.$i ] || die "GPU $i was left idle"; done

# kills of a running job, and of one that waits for it
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

# with an experiment
make -s -j4 -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" RUN="$gpus 0 1" DEVICE=cpu DATA=synth TRAIN_IMAGES=64 \
    TEST_IMAGES=64 NET=mlp:8 EPOCHS=1 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out out/table.tsv
[ -s out/table.tsv ]
# commands that compute have the device of DEVICE
make -n -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DEVICE=cuda:1 DATA=synth NET=mlp:8 OUT=other >log
grep -q "^export DEVICE='cuda:1'" log
[ "$(grep -cE '(mc-train|mc-acts|mc-bezier --data|mc-eval) ' log)" = \
    "$(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' log | grep -c -- '--device cuda:1')" ] || die "$(cat log)"
