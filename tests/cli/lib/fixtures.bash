# SPDX-License-Identifier: Apache-2.0
# Fixtures of several scripts, each made once per run of the tests: `fixture NAME` (lib.bash) copies the files of make_NAME.

# a data set of small images, and two networks trained on it for one epoch
make_pair() {
    local s
    mc-data synth --samples $total --size 16 -o data.mcz
    for s in 1:a 2:b; do
        mc-train -q -t 1 --net tinyten --data data.mcz --samples $((images / 3)) --batch $batch --epochs 1 --seed ${s%:*} -o ${s#*:}.mcz
    done
}

# mc-acts on the pair's images
acts() { mc-acts -q -t 1 --data data.mcz --samples $images --batch $batch "$@"; }
# mc-acts with its default settings
collect() { mc-acts --data data.mcz $small "$@"; }

# the pair's moments (whole, in two shards), raw activations and matrices
make_moments() {
    local i
    fixture pair
    acts a.mcz b.mcz -o m.mcz
    for i in 1 2; do acts --shard $i/2 a.mcz b.mcz -o s$i.mcz; done
    for i in a b; do acts --raw $i.mcz -o $i.acts; done
    mc-corr -q m.mcz -o c.mcz
}

# a network with two dead units, its permuted copy, the permutation, and the moments of both
make_planted() {
    fixture pair
    py <<'END'
a = mcz.read("a.mcz")
t = {k: v.copy() for k, v in a.tensors.items()}
for unit in 3, 17:
    t["layers.3.bn.weight"][unit] = 0
    t["layers.3.bn.bias"][unit] = -1
mcz.write("dead.mcz", a.kind, a.meta, t)
END
    mc-permute --random 7 --perm-out planted.mcz dead.mcz -o q.mcz
    acts dead.mcz q.mcz -o dq.mcz
}

# the side of images for networks of linear layers
side=32
[ "$MC_UNDER" != valgrind ] || side=8

# two adversarially trained networks, the line between them, and test images
attack=pgd:eps=4/255,step=2/255,steps=2
make_attacked() {
    local s
    mc-data synth --samples 384 --size $side --seed 3 -o d.mcz
    mc-data synth --split test --samples 150 --size $side --seed 3 -o test.mcz
    for s in 1 2; do
        mc-train -q --net mlp:bn,16,12 --no-normalise --data d.mcz --epochs 1 --lr 0.05 --batch 64 --seed $s -t 1 --attack $attack -o n$s.mcz
    done
    mc-bezier -q --epochs 0 n1.mcz n2.mcz -o line.mcz
}

# a random network that mc did not write, its identity permutation, two random permutations of it, and data
make_stranger() {
    /usr/bin/python3 "$MC_ROOT/tests/cli/lib/random_network.py" 1 stranger.mcz data.mcz
    mc-permute --identity stranger.mcz -o one.mcz
    mc-permute one.mcz stranger.mcz -o a.mcz
    mc-permute --random 7 a.mcz -o qa.mcz --perm-out q.mcz
    mc-permute --random 8 a.mcz -o ra.mcz --perm-out r.mcz
}

# matrices of several groups
make_matrices() { /usr/bin/python3 "$MC_ROOT/tests/cli/lib/assignments.py" make m.mcz; }

# distances of two groups before and after the ReLU, with a constraint that binds (pre) and one that does not (loose); the
# unconstrained assignment
make_constrained() {
    py <<'END'
for name, at, corner in ("post", "post", None), ("pre", "pre", -.1), ("loose", "pre", -1):
    draw = np.random.RandomState(sum((name + ".mcz").encode()))
    tensors = {"first": -draw.rand(40, 40), "second": -draw.rand(9, 9)}
    for t in tensors.values():
        if corner:
            np.fill_diagonal(t, corner)
    groups = [{"name": k, "size": len(t), "taps": 1, "dead_a": [], "dead_b": []} for k, t in tensors.items()]
    mcz.write(name + ".mcz", "matrices", {"measure": "l2", "at": at, "groups": groups}, tensors)
END
    mc-hungarian post.mcz -o free.mcz
}

# two networks, the line between them, a trained curve, and test images
make_curves() {
    local s
    mc-data synth --samples 768 --size 16 --seed 3 -o d.mcz
    mc-data synth --split test --samples 300 --size 16 --seed 3 -o test.mcz
    for s in 1 2; do
        mc-train -q --net $net --data d.mcz --epochs 3 --schedule onecycle --seed $s -t 2 -o n$s.mcz
    done
    mc-bezier -q --epochs 0 n1.mcz n2.mcz -o line.mcz
    curve -o curve.mcz
}
curve() { mc-bezier -q --data d.mcz --epochs 4 --lr 0.05 --schedule onecycle -t 2 n1.mcz n2.mcz "$@"; }

# a network trained without interruption, its log, and a checkpoint halfway
make_resumed() {
    mc-data synth --samples 1024 --size 16 --seed 3 -o d.mcz
    mc-train -q --net $net --data d.mcz --epochs 4 --seed 5 -t 2 --log-json whole.json -o whole.mcz
    mc-train -q --net $net --data d.mcz --epochs 4 --seed 5 -t 2 --stop-after 2 --checkpoint half.ck -o half.mcz
}

# two trained networks without batch norm, the moments before their ReLUs, and the permutation of minimum distance there
make_bounded() {
    local s
    mc-data synth --samples 400 --size 8 --seed 3 -o d.mcz
    for s in 1 2; do
        mc-train -q -t 1 --net mlp:12,10,8 --data d.mcz --batch 32 --lr .05 --no-augment --epochs 15 --seed $s -o n$s.mcz
    done
    mc-acts -q -t 1 --data d.mcz --samples 80 --at pre n1.mcz n2.mcz -o m.mcz
    mc-corr -q --measure l2 m.mcz | mc-hungarian -q -o p.mcz
}

# the example network of formats/, trained for one epoch
make_example() {
    mc-data synth --samples 400 -o data.mcz
    train --net "$MC_ROOT/formats/samples/example_net.json" --epochs 1 -o a.mcz
}
train() { mc-train -q -t 1 --data data.mcz --samples $images --batch $batch "$@"; }

# a trained network, another one, adversarial examples against the first, and mc-pgd's log and messages
test=400
[ "$MC_UNDER" != valgrind ] || test=60
p="mc-pgd -t 1${small:+ --batch 60} --data test.mcz"
make_examples() {
    local train=2000 epochs=5 size=16 s
    [ "$MC_UNDER" != valgrind ] || train=600 epochs=8 size=8
    mc-data synth --samples $train --size $size -o train.mcz
    mc-data synth --split test --samples $test --size $size -o test.mcz
    for s in 1 2; do
        mc-train -q -t 1 --net $net --data train.mcz --batch 32 --lr .03 --epochs $epochs --no-augment --seed $s -o $s.mcz
        epochs=1
    done
    $p --eps 8/255 --steps 10 --log-json log 1.mcz -o adv.mcz 2>note
}

# three networks, a line and a curve between two of them, and test images
make_three() {
    local s
    mc-data synth --samples 700 --size $side --seed 3 -o d.mcz
    mc-data synth --split test --samples 333 --size $side --seed 3 -o test.mcz
    for s in 1 2 3; do
        mc-train -q --net mlp:bn,24 --data d.mcz --epochs 2 --lr 0.02 --seed $s -t 2 -o n$s.mcz
    done
    mc-bezier -q --epochs 4 --lr .3 -t 2 --data d.mcz n1.mcz n2.mcz -o curve.mcz
    mc-bezier -q --epochs 0 n1.mcz n2.mcz -o line.mcz
}

# two small networks and two without batch norm; mc-pam's curve between the first two and its log; the result of a permutation
# step alone as a curve, as a permutation and composed with itself; the second network in the curve's order
make_pam() {
    local s
    mc-data synth --samples 400 --size 8 --seed 3 -o d.mcz
    for s in 1 2; do
        mc-train -q -t 1 --net mlp:bn,12,8 --data d.mcz --batch 32 --lr .05 --no-augment --epochs 15 --seed $s -o n$s.mcz
    done
    mc-train -q -t 1 --net mlp:12,8 --data d.mcz --epochs 1 -o plain.mcz
    mc-train -q -t 1 --net mlp:12,8 --data d.mcz --batch 32 --lr .05 --epochs 9 --seed 2 -o plain2.mcz
    both --log-json log.json -o curve.mcz
    mc-permute curve.mcz n2.mcz -o pb.mcz
    pam --stage permutation --permutation-epochs 3 --permutation-lr 1 n1.mcz n2.mcz -o perm-only.mcz
    mc-permute --compose perm-only.mcz perm-only.mcz -o twice.mcz
    mc-permute --identity n1.mcz | mc-permute --compose perm-only.mcz - -o p.mcz
}
pam() { $launcher mc-pam -q -t 1 --data d.mcz --batch 32 --select-images 128 --select-points 3 --lr .02 --seed 5 "$@"; }
both() { pam --permutation-epochs 3 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz "$@"; }

# CIFAR-10 in its published layout, with random labels and pixels
make_cifar10() {
    local i bin=set/cifar-10-batches-bin
    mkdir -p $bin
    py <<'END'
for name, seed in ("data_batch_1", 1), ("test_batch", 6):
    r = np.random.default_rng(seed).integers(0, 256, (10000, 3073), dtype=np.uint8)
    r[:, 0] %= 10
    r.tofile("set/cifar-10-batches-bin/%s.bin" % name)
END
    for i in 2 3 4 5; do truncate -s 30730000 $bin/data_batch_$i.bin; done
    printf '%s\n' airplane automobile bird cat deer dog frog horse ship truck '' >$bin/batches.meta.txt
}

# Tiny ImageNet in its published layout, with a few pictures
make_tiny() {
    local c i pictures=$MC_ROOT/tests/pictures
    t=tiny/tiny-imagenet-200
    mkdir -p $t/val/images
    printf 'n03\nn01\nn02\n' >$t/wnids.txt
    printf 'n00\tnobody\nn01\tcat, true cat\nn03\tlemon\n' >$t/words.txt
    for c in n01 n02 n03; do
        mkdir -p $t/train/$c/images
        for i in 0 1 2 3; do cp "$pictures/grey.jpg" $t/train/$c/images/${c}_$i.JPEG; done
        cp "$pictures/rgb.jpg" $t/val/images/val_$c.JPEG
        printf 'val_%s.JPEG\t%s\t0\t0\t9\t9\n' $c $c
    done | sort -r >$t/val/val_annotations.txt
}

# a network trained for one epoch, and the same as npz
make_converted() {
    local samples=64
    [ "$MC_UNDER" != valgrind ] || samples=8
    mc-data synth --samples 64 -o data.mcz
    mc-train -q -t 1 --net tinyten --data data.mcz --samples $samples --batch 8 --epochs 1 -o a.mcz
    mc-convert a.mcz -o a.npz
}

# inputs of mc-plot: paths of several depths, a signature, a log, a plane, and its marks without and with a path
make_tables() {
    local d
    for d in line:1 curve:.1 curve2:.2 curve3:.6; do
        printf 't\ttrain.loss\ttrain.accuracy\ttest.loss\ttest.accuracy\n' >${d%:*}.tsv
        awk -v d=${d#*:} 'BEGIN { for (i = 0; i <= 20; i++) { t = i / 20; b = 4 * t * (1 - t)
            printf "%g\t%g\t%g\t%g\t%g\n", t, .1 + d * b, 98 - 50 * d * b, .5 + d * b, 83 - 40 * d * b } }' >>${d%:*}.tsv
    done
    printf 'layer\tunits\tdead_a\tdead_b\tidentity\tpermuted\n' >sig.tsv
    printf 'layers.%d.conv\t16\t0\t0\t0.0%d\t0.6%d\n' 0 1 2 3 3 4 >>sig.tsv
    printf '{"event":"start"}\n{"event":"epoch","epoch":%d,"loss":%g,"accuracy":%d}\n' 1 2.1 30 2 1.5 44 >log.json
    awk 'BEGIN { OFS = "\t"; print "x", "y", "test.loss", "test.accuracy"; for (i = 0; i < 5; i++) for (j = 0; j < 4; j++)
        print j * 2.5, i * 1.5, .5 + i * j / 5, 80 - 3 * i * j }' >plane.tsv
    printf 'mark\tname\tx\ty\toff\n' >marks.tsv
    printf 'network\t%s\t%s\t%s\t0\n' out/a.mcz 1 1 b.mcz 6 1 'c <&>' 3 5.5 >>marks.tsv
    { cat marks.tsv; printf 'path\t%s\t%s\t%s\t0\n' 0 1 1 .5 3 3.5 1 6 1; } >path.tsv
}

# a network trained without interruption, its log, and a checkpoint after four epochs
make_logs() {
    mc-data synth --samples 300 --seed 3 -o d.mcz
    train_logged --log-json whole.json -o whole.mcz
    expect_equal "$(epochs whole.json)" "1 2 3 4 5 6 "
    train_logged --stop-after 4 --checkpoint half.ck -o half.mcz
}
train_logged() { mc-train -q --net mlp:8 --no-augment --data d.mcz --epochs 6 --seed 5 -t 1 "$@"; }
epochs() { sed -n 's/.*"event":"epoch","epoch":\([0-9]*\),.*}$/\1/p' "$1" | tr '\n' ' '; }

# a network of 0.5 MB
large() { mc-train -q --data "$data" --no-augment --net mlp:20000 --epochs 1 "$@"; }

# all programs, with a stub of mc-plot (see stub_plot). Instead of a picture, the stub writes its arguments with checksums for the names
# of tables and logs, so that pictures of the same data are the same. It fails if a table or log is missing.
make_bin() {
    ln -s "$MC_BUILD"/bin/* .
    rm mc-plot
    printf '#!/bin/bash\nprogram=%q\n' "$MC_BUILD/bin/mc-plot" >mc-plot
    cat >>mc-plot <<'END'
set -euo pipefail
[[ " $* " == *' -o '* ]] || exec "$program" "$@" # --help, and pictures to standard output
arguments=() output=
while [ $# -gt 0 ]; do
    case $1 in
    -o)
        output=$2
        shift
        ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
# from LABEL=FILE,FILE: each word
for argument in "${arguments[@]}"; do
    IFS='=,' read -ra words <<<"$argument"
    for word in "${words[@]}"; do
        case $word in
        # the speed differs from run to run
        *.json) sed -n '/"event":"epoch"/{ s/,"images_per_second":[^}]*//; p }' "$word" | cksum ;;
        *.tsv) cksum <"$word" ;;
        *) printf '%s\n' "$word" ;;
        esac
    done
done >"$output.part"
mv "$output.part" "$output"
END
    chmod +x mc-plot
}

# outputs of experiments, with pictures: three pairs of small networks, and small experiments of connect.mk, robust.mk and pam.mk
pairs() { graph connect NET=mlp:bn,8 TRAIN_IMAGES=256 EPOCHS=1 "$@"; }
make_pairs() { bin=$MC_BUILD/bin pairs -j2 PAIRS='1:2 1:3 2:3'; }
make_connected() { bin=$MC_BUILD/bin graph connect; }
make_robust() {
    local bin=$MC_BUILD/bin
    expect_programs 'mc-acts1 mc-bezier4 mc-corr1 mc-data2 mc-eval6 mc-hungarian1 mc-permute1 mc-plot8 mc-train2 ' \
        robust TRAIN_IMAGES=256 BATCH=64 OUT=out-robust ATTACK=$attack
}
make_pam_graph() {
    local bin=$MC_BUILD/bin
    graph connect DATA_FLAGS='--size 8' CURVE_EPOCHS=2
    expect_programs 'mc-bezier2 mc-eval4 mc-pam2 mc-permute2 mc-plot4 ' pam DATA_FLAGS='--size 8' CURVE_EPOCHS=2 \
        PERMUTATION_EPOCHS=2 PAM_FLAGS='--outer 2 --permutation-lr 1 --select-images 256'
}

# the pair's first network and an mlp, with permuted copies and the permutations
make_recoverable() {
    fixture pair
    mc-permute --random 5 --perm-out planted.mcz a.mcz -o q.mcz
    mc-train -q -t 1 --net mlp:24,16 --data data.mcz --samples $images --epochs 2 -o mlp.mcz
    mc-permute --random 6 --perm-out mlp-planted.mcz mlp.mcz -o mlp-q.mcz
}

# lines from one network to another and to its aligned copy, and every image's loss along both
make_lost() {
    local s
    mc-data synth --samples 300 --size 16 -o d.mcz
    mc-data synth --split test --samples 90 --size 16 -o t.mcz
    for s in 1 2; do mc-train -q -t 1 --net mlp:bn,16 --data d.mcz --epochs 2 --seed $s -o n$s.mcz; done
    mc-acts -q -t 1 --data d.mcz n1.mcz n2.mcz | mc-corr -q | mc-hungarian -q | mc-permute - n2.mcz -o b.mcz
    mc-bezier --epochs 0 n1.mcz n2.mcz -o u.mcz
    mc-bezier --epochs 0 n1.mcz b.mcz -o a.mcz
    for s in u a; do
        mc-eval -q -t 1 --points 9 --data test=t.mcz --data d.mcz --samples 70 --bn-data d.mcz --losses $s.losses $s.mcz -o $s.tsv
    done
}

# three networks of two groups, and the matrices of their pairs: 12, 13, 23, and 21 with the sides exchanged
make_joint() {
    local p s
    mc-data synth --samples 64 --size 8 -o data.mcz
    for s in 1 2 3; do mc-train -q -t 1 --net mlp:bn,12,9 --data data.mcz --batch 16 --epochs 1 --seed $s -o $s.mcz; done
    for p in 12 13 23 21; do
        mc-acts -q -t 1 --samples 64 --data data.mcz "${p%?}.mcz" "${p#?}.mcz" | mc-corr -q -o m$p.mcz
    done
}
