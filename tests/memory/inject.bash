# SPDX-License-Identifier: Apache-2.0
# Makes allocations of every program fail, one at a time or all from one on (tests/memory/failing.c). Sourced by
# tests/torture/memory and tests/cli/suite/memory-allocation-failures-survived.sh, which start in their own folder, with the
# programs first on PATH, $MC_ROOT and $MC_BUILD.
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
attempts=0 faults=0
ulimit -c 0

# make_maps: writes a map of the names of mlp:bn,4's modules, and a table of its group
make_maps() {
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

# make_inputs: writes all inputs of the commands to the folder `in`
make_inputs() {
    echo old >old
    local s=$MC_ROOT/formats/samples/good k
    mkdir -p in && cd in || return
    for k in dataset weights curve permutation permutation-matrices moments activations matrices losses checkpoint; do
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
        mc-info --graph a.mcz >net.json && make_maps &&
        mc-convert a.mcz -o a.npz && mc-convert b.mcz -o b.npz && mc-convert --map net.map a.mcz -o renamed.safetensors &&
        for k in 1 2; do mc-acts -q -t 1 --data d.mcz --shard $k/2 a.mcz b.mcz -o shard$k.mcz || return; done &&
        for k in a b; do mc-convert --groups groups.tsv $k.npz -o g$k.mcz || return; done &&
        sed '1s/$/\twithin\tunit\tallows/; 2,$s/$/\t-\t-\tcentred/' groups.tsv >centred.tsv && mc-convert --groups centred.tsv a.npz -o centred.mcz &&
        mc-bezier -q -t 1 --epochs 1 --data d.mcz a.mcz b.mcz -o bent.mcz && mc-bezier --inner bent.mcz -o inner.mcz &&
        mc-train -q -t 1 --net net.json --epochs 2 --stop-after 1 --batch 16 --data d.mcz --checkpoint ck -o half.mcz && mc-corr --signature --perm permutation.mcz -t 1 moments.mcz -o signature.tsv ||
        return
    /usr/bin/python3 - "$MC_ROOT/tests/pictures" <<'PY' || return
import gzip, os, shutil, struct, sys
import numpy as np
pictures = sys.argv[1]
sys.path.insert(0, pictures + "/../../formats/python")
import mcz
taps = {"taps": 1, "dead_a": [], "dead_b": []}
groups = [{"name": k, "size": 2, "allows": k, **taps} for k in ("signed", "rotation", "orthogonal", "centred")]
groups += [{"name": "heads", "size": 2, **taps}] + [
    {"name": "head%d" % u, "size": 3, "allows": "orthogonal", "within": 4, "unit": u, **taps} for u in range(2)]
mcz.write("moment.mcz", "matrices", {"measure": "moment", "at": "post", "groups": groups}, {
    g["name"]: np.ones((6, 6) if g["name"] == "head0" else (2, 2)) for g in groups if g["name"] not in ("heads", "head1")})
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

# list_commands: sets lines to the command lines to test, quoted. @FILE is an output: the old file must stay or be replaced
# whole. +FILE is a log or a checkpoint, which may be shorter. ^FILE is a checkpoint to resume from.
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
    add_command mc-train -q --net ../in/net.json --epochs 2 --batch 16 --data ../in/d.mcz --val ../in/d.mcz --checkpoint +ck --log-json +log -o @out
    add_command mc-train -q --net ../in/net.json --epochs 2 --batch 16 --data ../in/d.mcz --checkpoint ^ck --resume -o @out
    add_command mc-train -q --net resnet:8,4 --epochs 1 --batch 16 --data ../in/d.mcz --attack pgd:steps=1 -o @out
    add_command mc-train -q --init ../in/a.mcz --epochs 0 --data ../in/d.mcz -o @out
    add_command mc-acts -q --data ../in/dataset.mcz ../in/weights.mcz ../in/weights.mcz -o @out
    add_command mc-acts -q --at pre --shard 2/2 --attack pgd:steps=1 --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-acts -q --raw --data ../in/dataset.mcz ../in/weights.mcz -o @out
    add_command mc-corr -q ../in/moments.mcz -o @out
    add_command mc-corr --signature --perm ../in/permutation.mcz ../in/moments.mcz -o @out
    add_command mc-corr -q ../in/activations.mcz ../in/activations.mcz -o @out
    add_command mc-corr -q --measure l2 ../in/shard1.mcz ../in/shard2.mcz -o @out
    add_command mc-bound -q --path @path ../in/plain.mcz ../in/plain.mcz ../in/pre.mcz -o @out
    add_command mc-hungarian -q ../in/matrices.mcz -o @out
    add_command mc-hungarian -q --constraint ../in/plain-pre.mcz ../in/plain-post.mcz -o @out
    add_command mc-procrustes -q ../in/moment.mcz -o @out
    add_command mc-permute --inverse --compose ../in/permutation-matrices.mcz ../in/permutation-matrices.mcz -o @out
    add_command mc-permute --random 2 --perm-out @perm ../in/centred.mcz -o @out
    add_command mc-match -q ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-match -q --maps ../in/centred.mcz ../in/centred.mcz -o @out
    add_command mc-match -q --init ../in/p.mcz ../in/ga.mcz ../in/gb.mcz -o @out
    add_command mc-permute --inverse ../in/p.mcz -o @out
    add_command mc-permute --identity ../in/a.mcz -o @out
    add_command mc-permute ../in/p.mcz ../in/b.mcz -o @out
    add_command mc-permute --verify ../in/test.mcz ../in/p.mcz ../in/b.mcz -o @out
    add_command mc-permute --random 3 --perm-out @perm ../in/b.mcz -o @out
    add_command mc-permute --compose ../in/p.mcz ../in/p.mcz -o @out
    add_command mc-merge --weights 1,2,1 ../in/a.mcz ../in/b.mcz ../in/a.mcz -o @out
    add_command mc-bezier -q --epochs 1 --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-bezier -q --inner ../in/bent.mcz -o @out
    add_command mc-bezier -q --epochs 0 --start ../in/inner.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-bezier -q --point .5 --bn-data ../in/d.mcz ../in/ab.mcz -o @out
    add_command mc-pam -q --permutation-epochs 1 --epochs 1 --batch 16 --checkpoint +ck --data ../in/d.mcz ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-pam -q --permutation-epochs 1 --epochs 1 --spectral 9 --huber .1 --data ../in/dataset.mcz \
        ../in/plain.mcz ../in/plain.mcz -o @out
    add_command mc-repair -q --data ../in/d.mcz ../in/a.mcz --ends ../in/a.mcz ../in/b.mcz -o @out
    add_command mc-repair -q --data ../in/d.mcz ../in/a.mcz -o @out
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
    add_command mc-convert -q --net mlp:bn,4 --data ../in/d.mcz --map ../in/net.map ../in/renamed.safetensors -o @out
    add_command mc-convert -q --like ../in/weights.mcz ../in/w.npz -o @out
    add_command mc-convert -q --like ../in/weights.mcz ../in/w.safetensors -o @out
    add_command mc-info ../in/a.mcz ../in/dataset.mcz
    add_command mc-info --json ../in/a.mcz
    add_command mc-info --graph ../in/a.mcz
    add_command mc-info --check ../in/curve.mcz ../in/checkpoint.mcz
}

# try K SOURCE AT ON: runs command K in the folder w, and sets $status; stderr is in errors. SOURCE - means that nothing fails.
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
    mc-train | mc-acts | mc-corr | mc-hungarian | mc-procrustes | mc-match | mc-permute | mc-bezier | mc-pam | mc-repair | mc-pgd | mc-eval | mc-bootstrap)
        words+=(-t 1)
        ;;
    esac
    head -c 16 /dev/zero >count
    # the status goes through a file: after about 10,000 children bash may confuse their statuses
    (cd w && timeout 120 env MC_FAIL_SOURCE="$2" MC_FAIL_AT="$3" MC_FAIL_ON="$4" MC_FAIL_COUNT=../count \
        LD_PRELOAD="$MC_BUILD/tests/memory/failing.so" "${words[@]}"
        echo $? >../status) >stdout 2>errors </dev/null
    status=$(<status)
}

# learn K: keeps the outputs of an undisturbed run, and sets own[K] and foreign[K] to its and its libraries' numbers of
# allocations
learn() {
    local o
    try "$1" - 0 0
    [ $status = 0 ] || { echo "${lines[$1]}: status $status: $(<errors)" && return 1; }
    od -An -tu8 count >made
    read -r "own[$1]" "foreign[$1]" <made
    mkdir -p "whole/$1" && cp errors stdout "whole/$1"
    for o in "${outputs[@]}"; do cp "w/$o" "whole/$1/$o"; done
}

# judge K SOURCE AT ON: makes this allocation fail and checks command K. It must either fail with status 1, one line with the
# reason and the old files unchanged, or do all of its work.
judge() {
    local whole=whole/$1 program=${lines[$1]%% *} o f bad=0 line made made_by_libraries
    try "$@"
    od -An -tu8 count >made
    read -r made made_by_libraries <made
    [ "$2" = own ] || made=$made_by_libraries
    [ "$made" -ge "$3" ] || return 0 # the program makes fewer allocations
    attempts=$((attempts + 1))
    line=$(<errors)
    line=${line#$'\n'} # libgomp ends the program itself, and starts with an empty line
    case $status in
    0)
        cmp -s errors $whole/errors || fault "$@" 'status 0, and stderr differs'
        cmp -s stdout $whole/stdout || fault "$@" 'status 0, and stdout differs'
        for o in "${outputs[@]}"; do
            cmp -s "w/$o" "$whole/$o" || fault "$@" "status 0, and $o differs"
        done
        ;;
    1)
        # mc-info prints one line per file
        [[ $program != mc-info ]] || line=${line##*$'\n'}
        [[ $line != *$'\n'* && $line == @("$program"|libgomp)": "* && ${line,,} == *memory* ]] ||
            fault "$@" 'not one line about memory'
        [[ $program == mc-info || $(<$whole/stdout) == "$(<stdout)"* ]] || fault "$@" 'status 1, and stdout differs'
        # some of several outputs may be complete; a log that lost a line is reported after the outputs are written
        for o in "${outputs[@]}"; do
            cmp -s "w/$o" old || { [[ $o != out || $line == *"write 'log'"* ]] && cmp -s "w/$o" "$whole/$o"; } ||
                fault "$@" "status 1, and $o is neither the old file nor whole"
        done
        ;;
    *) fault "$@" "status $status" ;;
    esac
    for f in w/* w/.[!.]*; do
        [[ " ${outputs[*]} ${extras[*]} " == *" ${f#w/} "* || ! -e $f ]] || fault "$@" "left ${f#w/}"
    done
    for f in "${extras[@]}"; do
        [[ $f != ck || ! -e w/ck ]] || mc-info --check w/ck >/dev/null 2>&1 || fault "$@" 'the checkpoint is damaged'
    done
    faults=$((faults + bad))
}

# fault K SOURCE AT ON TEXT: reports a fault
fault() {
    echo "$5: allocation $3 ($2$([ "$4" = 0 ] || echo ' and all later ones')): ${lines[$1]}"
    sed 's/^/    /' errors | head -n 5
    bad=1
}
