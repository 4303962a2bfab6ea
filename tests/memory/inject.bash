# SPDX-License-Identifier: Apache-2.0
# Allocations that fail, one at a time or all from one on, in every program (tests/memory/failing.c). Read by
# tests/torture/memory and tests/cli/suite/memory-allocation-failures-survived.sh, which start in a folder of their own,
# with the programs first on PATH, $MC_ROOT and $MC_BUILD.
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
attempts=0 faults=0
ulimit -c 0

# names: a map of mlp:bn,4's modules, and what its group permutes
names() {
    local t
    echo 'fc1 layers.0.linear' >net.map
    {
        printf 'tensor\taxis\toffset\tcount\tblock\tgroup\n'
        for t in linear.weight linear.bias bn.weight bn.bias bn.running_mean bn.running_var; do
            printf 'layers.0.%s\t0\t0\t4\t1\tlayers.0.linear\n' $t
        done
        printf 'dense.weight\t1\t0\t4\t1\tlayers.0.linear\n'
    } >groups.tsv
}

# make_inputs: what the commands read, in the folder in
make_inputs() {
    echo old >old
    local s=$MC_ROOT/formats/samples/good k
    mkdir -p in && cd in || return
    for k in dataset weights curve permutation moments activations matrices losses checkpoint; do
        cp "$s-$k.mcz" $k.mcz || return
    done
    mc-convert weights.mcz -o w.npz && mc-convert weights.mcz -o w.safetensors &&
        mc-data synth --samples 40 --size 8 -o d.mcz && mc-data synth --split test --samples 20 --size 8 -o test.mcz &&
        mc-train -q -t 1 --net mlp:bn,4 --epochs 1 --data d.mcz --log-json log.json -o a.mcz &&
        mc-train -q -t 1 --net mlp:bn,4 --epochs 1 --seed 2 --data d.mcz -o b.mcz &&
        mc-train -q -t 1 --net mlp:bn,4 --epochs 1 --seed 3 --data d.mcz -o c.mcz &&
        mc-train -q -t 1 --net mlp:3 --no-augment --epochs 1 --data dataset.mcz -o plain.mcz &&
        mc-acts -q -t 1 --at pre --data dataset.mcz --samples 2 plain.mcz plain.mcz -o pre.mcz &&
        mc-acts -q -t 1 --data dataset.mcz --samples 2 plain.mcz plain.mcz | mc-corr -q -t 1 -o plain-post.mcz &&
        mc-corr -q --measure l2 -t 1 pre.mcz -o plain-pre.mcz &&
        mc-permute --random 1 --perm-out p.mcz a.mcz -o pa.mcz && mc-bezier -q --epochs 0 a.mcz b.mcz -o ab.mcz &&
        mc-eval -q -t 1 --bn-data d.mcz -d d.mcz -d test.mcz --points 3 ab.mcz -o path.tsv &&
        mc-eval -q -t 1 --plane --grid 3 --bn-data d.mcz -d test.mcz --marks marks.tsv a.mcz b.mcz c.mcz -o plane.tsv &&
        mc-info --graph a.mcz >net.json && names &&
        mc-convert a.mcz -o a.npz && mc-convert b.mcz -o b.npz && mc-convert --map net.map a.mcz -o theirs.safetensors &&
        for k in 1 2; do mc-acts -q -t 1 --data d.mcz --shard $k/2 a.mcz b.mcz -o shard$k.mcz || return; done &&
        for k in a b; do mc-convert --groups groups.tsv $k.npz -o g$k.mcz || return; done &&
        mc-bezier -q -t 1 --epochs 1 --data d.mcz a.mcz b.mcz -o bent.mcz && mc-bezier --inner bent.mcz -o inner.mcz &&
        mc-train -q -t 1 --net net.json --epochs 2 --stop-after 1 --batch 16 --data d.mcz --checkpoint ck -o half.mcz && mc-corr --signature --perm permutation.mcz -t 1 moments.mcz -o signature.tsv ||
        return
    /usr/bin/python3 - "$MC_ROOT/tests/pictures" <<'PY' || return
import gzip, os, shutil, struct, sys
import numpy as np
pictures = sys.argv[1]
rng = np.random.default_rng(1)
x, y = rng.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8), np.array([0, 1, 2, 0, 1, 2])
np.savez("set.npz", images=x, labels=y)
for name, a, packed in (("train-images-idx3-ubyte", x[..., 0], 0), ("train-labels-idx1-ubyte.gz", y.astype(np.uint8), 1)):
    os.makedirs("idx", exist_ok=True)
    raw = struct.pack(">HBB", 0, 8, a.ndim) + struct.pack(">%dI" % a.ndim, *a.shape) + a.tobytes()
    (gzip.open if packed else open)("idx/" + name, "wb").write(raw)
os.makedirs("cifar")
with open("cifar/test_batch.bin", "wb") as f:
    f.truncate(10000 * 3073)
open("cifar/batches.meta.txt", "w").write("".join("class%d\n" % i for i in range(10)))
for k in "ab":
    os.makedirs("folder/train/" + k)
    for f in ("rgb.png", "alpha.png", "rgb.jpg", "cmyk.jpg"):
        shutil.copy(os.path.join(pictures, f), "folder/train/" + k)
    os.makedirs("tiny/train/%s/images" % k)
    os.makedirs("tiny/val/images", exist_ok=True)
    for to in ("train/%s/images/%s_0.JPEG", "val/images/%s_%s.JPEG"):
        shutil.copy(os.path.join(pictures, "rgb.jpg"), "tiny/" + to % (k, k))
open("tiny/wnids.txt", "w").write("a\nb\n")
open("tiny/words.txt", "w").write("a\tfirst\nb\tsecond\nc\tthird\n")
open("tiny/val/val_annotations.txt", "w").write("a_a.JPEG\ta\t0\nb_b.JPEG\tb\t0\n")
PY
    cd ..
}

# list_commands: every command line that is tried, in lines, quoted. @FILE is an output, whose old file is to stay or to be
# replaced whole; +FILE is a log or a checkpoint, of which less may be there; ^FILE is one to go on from.
lines=()
add_command() { lines+=("$(printf '%q ' "$@")"); }
list_commands() {
    add_command mc-data synth --samples 20 -o @out
    add_command mc-data cifar10 --split test --samples 8 ../in/cifar -o @out
    add_command mc-data folder --size 8 ../in/folder -o @out
    add_command mc-data tiny-imagenet ../in/tiny -o @out
    add_command mc-data tiny-imagenet --split test ../in/tiny -o @out
    add_command mc-data folder --split train --no-shuffle ../in/folder/train/../ --size 5 -o @out
    add_command mc-data npz ../in/set.npz -o @out
    add_command mc-data idx --shuffle 1 ../in/idx -o @out
    add_command mc-train -q --net mlp:3 --no-augment --epochs 1 --data ../in/dataset.mcz -o @out
    add_command mc-train -q --net ../in/net.json --epochs 2 --batch 16 --data ../in/d.mcz --checkpoint +ck --log-json +log -o @out
    add_command mc-train -q --net ../in/net.json --epochs 2 --batch 16 --data ../in/d.mcz --checkpoint ^ck --resume -o @out
    add_command mc-train -q --net resnet:8,4 --epochs 1 --batch 16 --data ../in/d.mcz --attack pgd:steps=1 -o @out
    add_command mc-train -q --init ../in/a.mcz --epochs 0 --data ../in/d.mcz -o @out
    add_command mc-acts -q --data ../in/dataset.mcz ../in/weights.mcz ../in/weights.mcz -o @out
    add_command mc-acts -q --at pre --shard 1/2 --attack pgd:steps=1 --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-acts -q --raw --data ../in/dataset.mcz ../in/weights.mcz -o @out
    add_command mc-corr -q ../in/moments.mcz -o @out
    add_command mc-corr --signature --perm ../in/permutation.mcz ../in/moments.mcz -o @out
    add_command mc-corr -q ../in/activations.mcz ../in/activations.mcz -o @out
    add_command mc-corr -q --measure l2 ../in/shard1.mcz ../in/shard2.mcz -o @out
    add_command mc-bound -q --path @path ../in/plain.mcz ../in/plain.mcz ../in/pre.mcz -o @out
    add_command mc-hungarian -q ../in/matrices.mcz -o @out
    add_command mc-hungarian -q --constraint ../in/plain-pre.mcz ../in/plain-post.mcz -o @out
    add_command mc-match -q ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-match -q --init ../in/p.mcz ../in/ga.mcz ../in/gb.mcz -o @out
    add_command mc-permute --inverse ../in/p.mcz -o @out
    add_command mc-permute --identity ../in/a.mcz -o @out
    add_command mc-permute ../in/p.mcz ../in/b.mcz -o @out
    add_command mc-permute --verify ../in/test.mcz ../in/p.mcz ../in/b.mcz -o @out
    add_command mc-permute --random 3 --perm-out @perm ../in/b.mcz -o @out
    add_command mc-permute --compose ../in/p.mcz ../in/p.mcz -o @out
    add_command mc-bezier -q --epochs 1 --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-bezier -q --inner ../in/bent.mcz -o @out
    add_command mc-bezier -q --epochs 0 --start ../in/inner.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-bezier -q --point .5 --bn-data ../in/d.mcz ../in/ab.mcz -o @out
    add_command mc-pam -q --permutation-epochs 1 --epochs 1 --batch 16 --checkpoint +ck --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-pam -q --permutation-epochs 1 --epochs 1 --spectral 9 --huber .1 --data ../in/dataset.mcz \
        ../in/plain.mcz ../in/plain.mcz -o @out
    add_command mc-pgd -q --steps 2 --restarts 2 --data ../in/dataset.mcz ../in/weights.mcz -o @out
    add_command mc-eval -q --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-eval -q --points 2 --attack pgd:steps=1 --bn-data ../in/d.mcz --data ../in/test.mcz --summary @summary \
        --losses @losses ../in/ab.mcz -o @out
    add_command mc-eval -q --json --plane --grid 2 --marks @marks --bn-data ../in/d.mcz -d ../in/test.mcz --checkpoint +ck \
        ../in/a.mcz ../in/b.mcz ../in/c.mcz -o @out
    add_command mc-eval -q --line --bn average --points 3 -d ../in/test.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-bootstrap --resamples 200 ../in/losses.mcz ../in/losses.mcz -o @out
    add_command mc-convert -q --to npz ../in/a.mcz -o @out
    add_command mc-convert -q --to safetensors --map ../in/net.map ../in/a.mcz -o @out
    add_command mc-convert -q --groups ../in/groups.tsv ../in/a.npz -o @out
    add_command mc-convert -q --net mlp:bn,4 --data ../in/d.mcz --map ../in/net.map ../in/theirs.safetensors -o @out
    add_command mc-convert -q --like ../in/weights.mcz ../in/w.npz -o @out
    add_command mc-convert -q --like ../in/weights.mcz ../in/w.safetensors -o @out
    add_command mc-plot path --format svg l=../in/path.tsv,../in/path.tsv -o @out
    add_command mc-plot plane --format png ../in/plane.tsv ../in/marks.tsv -o @out
    add_command mc-plot log --format svg ../in/log.json -o @out
    add_command mc-plot signature --format pdf ../in/signature.tsv -o @out
    add_command mc-info ../in/a.mcz ../in/dataset.mcz
    add_command mc-info --json ../in/a.mcz
    add_command mc-info --graph ../in/a.mcz
    add_command mc-info --check ../in/curve.mcz ../in/checkpoint.mcz
}

# try K WHOSE AT ON: command K in the folder w, its $status, and what it said in told; with WHOSE as - nothing fails
outputs=() extras=()
try() {
    local word words=()
    eval "local all=(${lines[$1]})"
    outputs=() extras=()
    rm -rf w && mkdir w
    for word in "${all[@]}"; do
        case $word in
        @*) outputs+=("${word#@}") && word=${word#@} && cp old "w/$word" ;;
        +*) extras+=("${word#+}") && word=${word#+} ;;
        ^*) extras+=("${word#^}") && word=${word#^} && cp "in/$word" "w/$word" ;;
        esac
        words+=("$word")
    done
    case ${words[0]} in
    mc-train | mc-acts | mc-corr | mc-hungarian | mc-match | mc-permute | mc-bezier | mc-pam | mc-pgd | mc-eval | mc-bootstrap)
        words+=(-t 1)
        ;;
    esac
    head -c 16 /dev/zero >count
    # its status by a file: after some ten thousand children bash may take one's for another's
    (cd w && timeout 120 env MC_FAIL_WHOSE="$2" MC_FAIL_AT="$3" MC_FAIL_ON="$4" MC_FAIL_COUNT=../count \
        LD_PRELOAD="$MC_BUILD/tests/memory/failing.so" "${words[@]}"
        echo $? >../status) >stdout 2>told </dev/null
    status=$(<status)
}

# learn K: what command K writes, and how many allocations it and its libraries make, in own[K] and foreign[K]
learn() {
    local o
    try "$1" - 0 0
    [ $status = 0 ] || { echo "${lines[$1]}: status $status: $(<told)" && return 1; }
    od -An -tu8 count >made
    read -r "own[$1]" "foreign[$1]" <made
    mkdir -p "whole/$1" && cp told stdout "whole/$1"
    for o in "${outputs[@]}"; do cp "w/$o" "whole/$1/$o"; done
}

# judge K WHOSE AT ON: that allocation fails, and command K keeps its promises: it fails with status 1, one line that says why
# and the old files as they were, or it did its work all the same; a fault is told
judge() {
    local whole=whole/$1 program=${lines[$1]%% *} o f bad=0 line made made_by_libraries
    try "$@"
    od -An -tu8 count >made
    read -r made made_by_libraries <made
    [ "$2" = own ] || made=$made_by_libraries
    [ "$made" -ge "$3" ] || return 0 # it did not come to it
    attempts=$((attempts + 1))
    line=$(<told)
    line=${line#$'\n'} # libgomp, which ends the program itself, begins with an empty one
    case $status in
    0)
        cmp -s told $whole/told || fault "$@" 'status 0, and it said something'
        cmp -s stdout $whole/stdout || fault "$@" 'status 0, and wrote something else'
        for o in "${outputs[@]}"; do
            cmp -s "w/$o" "$whole/$o" || fault "$@" "status 0, and $o is not what it should be"
        done
        ;;
    1)
        # one of each file that mc-info looks at
        [[ $program != mc-info ]] || line=${line##*$'\n'}
        [[ $line != *$'\n'* && $line == @("$program"|libgomp)": "* && ${line,,} == *memory* ]] ||
            fault "$@" 'not one line that says it'
        [[ $program == mc-info || $(<$whole/stdout) == "$(<stdout)"* ]] || fault "$@" 'status 1, and wrote something else'
        # of several outputs some may be there already; and a log that lost a line is told when all is written
        for o in "${outputs[@]}"; do
            cmp -s "w/$o" old || { [[ $o != out || $line == *"write 'log'"* ]] && cmp -s "w/$o" "$whole/$o"; } ||
                fault "$@" "status 1, and $o is neither the old one nor whole"
        done
        ;;
    *) fault "$@" "status $status" ;;
    esac
    for f in w/* w/.[!.]*; do
        [[ " ${outputs[*]} ${extras[*]} " == *" ${f#w/} "* || ! -e $f ]] || fault "$@" "left ${f#w/} behind"
    done
    for f in "${extras[@]}"; do
        [[ $f != ck || ! -e w/ck ]] || mc-info --check w/ck >/dev/null 2>&1 || fault "$@" 'the checkpoint is damaged'
    done
    faults=$((faults + bad))
}

# fault K WHOSE AT ON TEXT
fault() {
    echo "$5: allocation $3 ($2$([ "$4" = 0 ] || echo ', and all behind it')): ${lines[$1]}"
    sed 's/^/    /' told | head -n 5
    bad=1
}
