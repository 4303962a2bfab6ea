# SPDX-License-Identifier: Apache-2.0
# gpus.sh runs one job per GPU, or several if allowed (there under MPS), and uses all GPUs. A job keeps its status and
# signals, and a killed job frees its GPU. This test needs no GPU.
export MC_GPU_LOCKS=$PWD/locks
gpus=$MC_ROOT/pipelines/cluster/gpus.sh
mkdir smi
printf '#!/bin/sh\n[ ! -e four ] || for i in 0 1 2 3; do echo "GPU $i: a card"; done\n' >smi/nvidia-smi
chmod +x smi/nvidia-smi
PATH=$PWD/smi:$PATH

fails 2 'which GPUs?' "$gpus" true
fails 2 'a command is needed' "$gpus" 0 1
fails 2 '0:0: a number of jobs' "$gpus" 0:0 true
fails 2 '1:many: a number of jobs' "$gpus" 0:2 1:many true
fails 2 '0:: a number of jobs' "$gpus" 0: true
fails 2 'an argument of its own' "$gpus" '0:2 1:1' true
fails 2 'an argument of its own' "$gpus" 0 '1 2' true
fails 2 "no option '-x'" "$gpus" -x 0 true
fails 2 "no command 'nothing-here'" "$gpus" 0 nothing-here
touch four
fails 2 'there is no GPU 4: nvidia-smi -L counts 4, from 0 on' "$gpus" 0 4 true
rm four
[ ! -e locks ] || die 'a lock without a job'
for h in -h --help; do "$gpus" $h >help && grep -q '^Usage: gpus.sh' help; done
touch file
MC_GPU_LOCKS='file' fails 1 "'file' is no folder of yours" "$gpus" 0 true

# the job gets its arguments, GPU and signals, and its status is returned
[ "$("$gpus" 7 printf '%s|' 'a b' 3)" = 'a b|3|' ]
[ "$("$gpus" 7 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER')" = '7 PCI_BUS_ID' ]
rc=0
"$gpus" 7 sh -c 'exit 3' || rc=$?
[ $rc = 3 ] || die "status $rc"
rc=0
"$gpus" 7 sh -c 'kill -TERM $$' || rc=$?
[ $rc = 143 ] || die "status $rc of a job that was terminated"

# 24 jobs on three GPUs, then two per GPU on one and one on another: a job fails if its place is taken
cat >job <<'END'
[ "$CUDA_VISIBLE_DEVICES" != 1 ] || set -- 0
for place in 0 $1; do mkdir "place.$CUDA_VISIBLE_DEVICES.$place" 2>/dev/null && break || place=; done
[ -n "$place" ] || exit 9
echo "$CUDA_VISIBLE_DEVICES" >>seen
sleep .02
rmdir "place.$CUDA_VISIBLE_DEVICES.$place"
END
run_jobs() { # PLACE GPUS.SH-ARGUMENTS...
    local place=$1 i pids=()
    shift
    for i in {1..24}; do
        "$gpus" "$@" bash job "$place" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || die "status $? of a job of gpus.sh $*"; done
}
run_jobs 0 0 2 5
[ "$(wc -l <seen)" = 24 ] && [ -z "$(grep -vx '[025]' seen)" ] || die "$(cat seen)"
# an MPS that cannot be started, then one that logs its calls
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
    $'gpus.sh: GPU 3: no MPS, 2 jobs take turns: there is no nvidia-cuda-mps-control\n3\nsecond'
rm locks/refuses

# under MPS: one daemon per GPU. Its jobs use its pipe and see the GPU as 0. It ends with the last job, and the next job
# starts it again.
stopped() { # GPU: waits until nothing runs there
    until [ ! -e locks/$1.mps/pipe/control ] && flock -n locks/$1.mps/stops true; do sleep .02; done
}
cat >meet <<'END'
mkdir "$CUDA_MPS_PIPE_DIRECTORY/$1"
until [ "$(ls -d locks/[0-9].mps/pipe/job* | wc -l)" = 5 ]; do sleep .02; done
[ -e "$CUDA_MPS_PIPE_DIRECTORY/control" ] && echo "$CUDA_VISIBLE_DEVICES ${CUDA_MPS_PIPE_DIRECTORY%/pipe}" >>seen.mps
END
for i in 1 2 3 4 5; do timeout 60 "$gpus" 0:3 4:2 bash meet job$i & done
wait
expect_equal "$(sort seen.mps | uniq -c | tr -s ' ' | tr '\n' ,)" " 3 0 $PWD/locks/0.mps, 2 0 $PWD/locks/4.mps,"
stopped 0 && stopped 4
expect_equal "$(sort locks/calls)" "start 0
start 4
stop $PWD/locks/0.mps/pipe
stop $PWD/locks/4.mps/pipe"
rm -r locks/calls locks/?.mps/pipe/job*
# also after a killed job; the daemon and waiting jobs do not hold a job's place
mkfifo ready
"$gpus" 4:2 bash -c 'echo >ready; exec sleep 1000' &
job=$!
read -r <ready
kill -KILL $job
wait $job || true
stopped 4
expect_equal "$(cut -c1-7 locks/calls)" $'start 4\nstop '"${PWD:0:2}"
timeout 60 "$gpus" 4 true
# an existing MPS, and a GPU for one job, are left unchanged
expect_equal "$(CUDA_MPS_PIPE_DIRECTORY=own "$gpus" 5:2 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_MPS_PIPE_DIRECTORY')" '5 own'
expect_equal "$("$gpus" 5 sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_MPS_PIPE_DIRECTORY')" 5
[ ! -e locks/5.mps ]

# all at the same time: each continues only when the others run too
cat >meet <<'END'
touch "here.$1.$CUDA_VISIBLE_DEVICES"
until [ "$(ls | grep -c "^here.$1")" = 3 ]; do sleep .02; done
END
for i in 1 2 3; do timeout 60 "$gpus" 4 5 6 bash meet a & done
wait
for i in 4 5 6; do [ -e here.a.$i ] || die "GPU $i is idle"; done

# killed as a job, and while it waits for a busy GPU
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

# started by a make graph
make -s -j4 -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" RUN="$gpus 0 1" DEVICE=cpu DATA=synth TRAIN_IMAGES=64 \
    TEST_IMAGES=64 NET=mlp:8 EPOCHS=1 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out
[ -s out/table.tsv ]
# programs that compute use the named device
make -n -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DEVICE=cuda:1 DATA=synth NET=mlp:8 OUT=other >log
grep -q "^export DEVICE='cuda:1'" log
[ "$(grep -cE '(mc-train|mc-acts|mc-bezier --data|mc-eval) ' log)" = \
    "$(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' log | grep -c -- '--device "$DEVICE"')" ] || die "$(cat log)"
