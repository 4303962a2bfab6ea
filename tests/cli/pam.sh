# SPDX-License-Identifier: Apache-2.0
# mc-pam: its curve and the permutation in it are what the other programs take; each stage alone; a run that is
# killed goes on to the same bytes; what it refuses.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 400 --size 8 --seed 3 -o d.mcz
for s in 1 2; do
    mc-train -q -t 1 --net mlp:bn,12,8 --data d.mcz --batch 32 --lr .05 --no-augment --epochs 15 --seed $s -o n$s.mcz
done
now=
pam() { $now mc-pam -q -t 1 --data d.mcz --batch 32 --select-images 128 --select-points 3 --lr .02 --seed 5 "$@"; }
both() { pam --permutation-epochs 3 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz "$@"; }
# field LOG EVENT NAME: of each such line
field() { sed -n "/\"event\":\"$2\"/s/.*\"$3\":\([^,}]*\).*/\1/p" "$1"; }
# plain LOG: without what depends on the clock
plain() { sed 's/,"images_per_second":[^}]*//' "$1"; }

both --log-json log.json -o curve.mcz
both >again.mcz
same curve.mcz again.mcz
mc-info --check curve.mcz
mc-eval -q -t 1 --data d.mcz --bn-data d.mcz --points 3 curve.mcz >curve.tsv
[ "$(wc -l <curve.tsv)" = 4 ]
[ "$(field log.json permutation outer | wc -l)$(field log.json iteration outer | wc -l)" = 11 ]
[ "$(field log.json permutation moved)" != 0 ] || die "nothing moves, and nothing is tested: $(cat log.json)"
# less LOG X Y: X is less than Y, sums of fields of the permutation step
less() {
    local x=0 y=0 f
    for f in $2; do x+=+$(field "$1" permutation $f); done
    for f in $3; do y+=+$(field "$1" permutation $f); done
    awk "BEGIN { exit !($x < $y) }" || die "$2: not less than $3: $(cat "$1")"
}
less log.json loss loss_before
less log.json loss_others loss_others_before
[ "$(field log.json permutation other_images)" = 128 ]
both --select-by objective --log-json priced.json -o x.mcz
less priced.json 'loss proximal' loss_before
both --accept joint --log-json joint.json -o x.mcz
less joint.json loss loss_before
[ "$(field joint.json permutation loss_relaxed)" = "$(field log.json permutation loss_relaxed)" ]
[ "$(field joint.json permutation loss)" != "$(field log.json permutation loss)" ]
# the paper's: what is given beside it holds, before it or behind it
args() { mc-info "$1" | sed -n 's/.* mc-pam .*\( permutation-lr=[^ ]*\).*\( accept=[^ ]*\) \(select-by=[^ ]*\).*/\1\2 \3/p'; }
both -o plain.mcz && [ "$(args plain.mcz)" = ' permutation-lr=1 accept=groups select-by=loss' ] || die "$(args plain.mcz)"
pam --as-paper --permutation-epochs 1 --epochs 1 n1.mcz n2.mcz -o x.mcz
[ "$(args x.mcz)" = ' permutation-lr=0.01 accept=joint select-by=objective' ] || die "$(args x.mcz)"
both --accept joint --select-by objective --permutation-lr .01 --log-json a.json -o x.mcz
both --permutation-lr .01 --as-paper --log-json b.json -o y.mcz
same x.mcz y.mcz
both --select-by loss --as-paper -o x.mcz
[ "$(args x.mcz)" = ' permutation-lr=1 accept=joint select-by=loss' ] || die "$(args x.mcz)"
# at the defaults units move, and the path is better for it
pam --stage permutation --permutation-epochs 4 --log-json default.json n1.mcz n2.mcz -o x.mcz
less default.json loss loss_before

# the curve's last point is the second network in the order that the curve says
mc-permute curve.mcz n2.mcz -o pb.mcz
mc-bezier -q -t 1 --point 0 --bn-data d.mcz curve.mcz -o first.mcz
mc-bezier -q -t 1 --point 1 --bn-data d.mcz curve.mcz -o last.mcz
/usr/bin/python3 - "$MC_ROOT" "$(field log.json permutation moved)" <<'END_OF_PYTHON'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
curve = mcz.read("curve.mcz")
names = [n[2:] for n in curve.tensors if n.startswith("0/")]
perm = {n: p for n, p in curve.tensors.items() if n.startswith("permutation/")}
assert len(perm) == 2 and all(sorted(p) == list(range(len(p))) for p in perm.values())
assert sum(np.sum(p != np.arange(len(p))) for p in perm.values()) == int(sys.argv[2])
for point, nets in ("0", ("n1", "first")), ("2", ("pb", "last")):
    for net in nets:
        w = mcz.read(net + ".mcz").tensors
        assert all(np.array_equal(curve.tensors[point + "/" + n], w[n]) for n in names), net
b = mcz.read("n2.mcz").tensors
assert any(not np.array_equal(curve.tensors["2/" + n], b[n]) for n in names)
END_OF_PYTHON
mc-permute --verify d.mcz curve.mcz n2.mcz >/dev/null
mc-permute --inverse curve.mcz pb.mcz -o back.mcz
[ "$(id back.mcz)" = "$(id n2.mcz)" ]

# each stage alone; a permutation from a stream and from a curve is the same
pam --stage permutation --permutation-epochs 3 --permutation-lr 1 n1.mcz n2.mcz -o perm-only.mcz
mc-permute perm-only.mcz n2.mcz -o x.mcz
[ "$(id x.mcz)" = "$(id pb.mcz)" ] || die 'the permutation alone is another one'
pam --stage curve --epochs 2 --init perm-only.mcz --log-json stage.json n1.mcz n2.mcz -o from-init.mcz
pam --stage curve --epochs 2 --perm perm-only.mcz n1.mcz n2.mcz -o from-curve.mcz
mc-permute --compose perm-only.mcz perm-only.mcz -o twice.mcz
mc-permute --identity n1.mcz | mc-permute --compose perm-only.mcz - -o p.mcz
pam --stage curve --epochs 2 --perm p.mcz n1.mcz n2.mcz -o from-perm.mcz
[ "$(id from-init.mcz)" = "$(id from-curve.mcz)" ] && [ "$(id from-perm.mcz)" = "$(id from-curve.mcz)" ]
pam --stage curve --epochs 2 --perm twice.mcz n1.mcz n2.mcz -o x.mcz
[ "$(id x.mcz)" != "$(id from-perm.mcz)" ]
[ -z "$(field stage.json permutation outer)" ] && [ "$(field stage.json iteration outer)" = 1 ]
# of other networks: told, and done
mc-permute curve.mcz n1.mcz 2>told >x.mcz
grep -qx 'mc-permute: curve.mcz was found for another network than n1.mcz' told || die "$(cat told)"
pam --stage curve --epochs 1 --perm curve.mcz n1.mcz n2.mcz -o x.mcz 2>told
[ ! -s told ] || die "$(cat told)"
pam --stage curve --epochs 1 --perm curve.mcz n2.mcz n1.mcz -o x.mcz 2>told
grep -qx 'mc-pam: curve.mcz was found between other networks than n2.mcz and n1.mcz' told || die "$(cat told)"
# a curve of mc-bezier's is one to start from too, and its control point is kept
mc-bezier -q -t 1 --data d.mcz --batch 32 --epochs 2 --lr .05 n1.mcz pb.mcz -o bezier.mcz
fails 3 'bezier.mcz: is not a curve from n1.mcz' pam --stage curve --epochs 1 --init bezier.mcz n1.mcz n2.mcz -o no.mcz
pam --stage curve --epochs 1 --init bezier.mcz --lr 0 n1.mcz pb.mcz -o kept.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END_OF_PYTHON'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
x, y = mcz.read("bezier.mcz").tensors, mcz.read("kept.mcz").tensors
assert all(np.allclose(x[n], y[n], rtol=0, atol=1e-6) for n in x)
line = max(np.abs(x["1/" + n[2:]] - (x[n] + x["2/" + n[2:]]) / 2).max() for n in x if n.startswith("0/"))
assert line > 1e-3
END_OF_PYTHON

# killed in a permutation step and in a curve step, and taken up: the same bytes, the same log
mc-data synth --samples 16384 --size 8 --seed 3 -o many.mcz
long() { pam --data many.mcz --outer 2 --permutation-epochs 2 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz "$@"; }
long --log-json whole.json -o whole.mcz
long -o again.mcz
same whole.mcz again.mcz
[ "$(field whole.json iteration outer | paste -sd ' ')" = '1 2' ]
# killed_after EPOCHS: when its checkpoint is that far (asked of mc-info itself: under valgrind it is too slow); again
# where it was done before
killed_after() {
    local attempt pid waited at
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        rm -f ck log.json out.mcz
        now=exec # else the shell in between dies, and the program goes on
        long --checkpoint ck --log-json log.json -o out.mcz &
        pid=$! waited=0 at=0
        now=
        while [ "$at" -lt "$1" ] && [ $((waited += 1)) -lt 6000 ]; do
            sleep .01
            [ ! -e ck ] || at=$("$MC_BUILD"/bin/mc-info --json ck | sed -n 's/.*"epoch": *\([0-9]*\).*/\1/p')
        done
        kill -9 $pid 2>/dev/null || true
        wait $pid 2>/dev/null || [ -e out.mcz ] || return 0
    done
    die 'it was done before it could be killed'
}
for epochs in 1 3 5; do
    killed_after $epochs
    long --checkpoint ck --resume --log-json log.json -o out.mcz
    same whole.mcz out.mcz
    same <(plain whole.json) <(plain log.json)
done
# and at every epoch's end
for epochs in 2 4 7; do
    rm -f ck
    long --checkpoint ck --stop-after $epochs -o part.mcz
    long --checkpoint ck --resume --log-json log.json -o out.mcz
    same whole.mcz out.mcz
    same <(plain whole.json) <(plain log.json)
done
rm -f ck
long --checkpoint ck --stop-after 3 -o part.mcz
fails 3 'ck: ' long --checkpoint ck --resume --nu-curve 5 -o no.mcz
fails 3 'ck: ' long --checkpoint ck --resume --nu-curve 1000.0000000001 -o no.mcz
fails 3 'ck: ' long --checkpoint ck --resume --draws 5 -o no.mcz
fails 3 'ck: ' long --checkpoint ck --resume --perm p.mcz -o no.mcz
fails 3 'ck: ' long --checkpoint ck --resume --init perm-only.mcz -o no.mcz

# attacked, and taken up in either step
attacked() { pam --attack pgd:steps=2 --permutation-epochs 2 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz "$@"; }
attacked --log-json robust.json -o robust.mcz
pam --permutation-epochs 2 --epochs 2 --permutation-lr 1 --log-json clean.json n1.mcz n2.mcz -o clean.mcz
[ "$(id robust.mcz)" != "$(id clean.mcz)" ]
awk -v r="$(field robust.json permutation loss_before)" -v c="$(field clean.json permutation loss_before)" \
    'BEGIN { exit !(r > c) }' || die "$(cat robust.json clean.json)"
for epochs in 1 3; do
    rm -f ck
    attacked --checkpoint ck --stop-after $epochs -o part.mcz
    attacked --checkpoint ck --resume -o again.mcz
    same robust.mcz again.mcz
done
pam --attack pgd:steps=1 --permutation-epochs 1 --epochs 0 n1.mcz n2.mcz -o x.mcz

# what it says where its matrices are not written, on how many images it judges, and that it gave up, each time
loud() { mc-pam -t 1 --data d.mcz --batch 32 --seed 5 --permutation-epochs 2 --epochs 1 "$@" n1.mcz n2.mcz -o x.mcz 2>told; }
loud --permutation-lr 1e-3 --stop-after 3
grep -qx 'mc-pam: permutation step 1 moved no unit: its matrices hardly left .* --permutation-lr .* may help)' told || die "$(cat told)"
loud -v --permutation-lr 1e-3 --epochs 0
grep -q 'proximal terms 0.0000 and 0.0000: nothing has changed' told || die "$(cat told)"
loud --stop-after 1
grep -q 'inside a permutation step.* lost ' told || die "$(cat told)"
rm -f ck
loud --stop-after 1 --checkpoint ck
grep -q 'inside a permutation step.* in the checkpoint only' told || die "$(cat told)"
for epochs in 2 3; do
    loud --permutation-lr 1 --stop-after $epochs
    [ ! -s told ] || die "$(cat told)"
done
loud -v --select-images 100 --log-json images.json
grep -q 'permutation step 1: on 96 other images loss .* kept$' told || die "$(cat told)"
grep -q 'the theorem' told && die "batch norm is none of its conditions: $(cat told)"
[ "$(grep -c 'on 96 images' told)" = 2 ] || die "$(cat told)"
grep -q "memory: .* 16 vectors of the network's size .*, permutation matrices .* MB$" told || die "$(cat told)"
mc-pam -v -t 1 --data d.mcz --batch 32 --stage curve --epochs 1 n1.mcz n2.mcz -o x.mcz 2>curve-told
grep -q "memory: .* 14 vectors of the network's size [0-9.]* MB$" curve-told || die "$(cat curve-told)"
[ "$(field images.json permutation judge_images)$(field images.json iteration judge_images)" = 9696 ]
mc-train -q -t 1 --net mlp:12,8 --data d.mcz --epochs 1 -o plain.mcz
rm -f ck
for again in '' --resume; do
    mc-pam -t 1 --data d.mcz --batch 32 --permutation-epochs 1 --epochs 1 --spectral 100 --huber 3 --checkpoint ck $again \
        plain.mcz plain.mcz -o x.mcz 2>told
    grep -q 'given up, the run ends' told || die "$again: $(cat told)"
done

# with a Huber delta, the objective of the ReLU beside its own; the theorem only where its conditions hold
mc-train -q -t 1 --net mlp:12,8 --data d.mcz --batch 32 --lr .05 --epochs 9 --seed 2 -o plain2.mcz
bounded() { mc-pam -v -t 1 --data d.mcz --batch 32 --lr .02 --permutation-epochs 2 --epochs 2 "$@" plain.mcz plain2.mcz -o x.mcz 2>told; }
bounded --huber .1 --log-json huber.json
grep -q 'Q on .* (with the ReLU itself [0-9.]* to [0-9.]*)' told || die "$(cat told)"
grep -q 'the theorem' told && die "without a bound on the norms: $(cat told)"
[ "$(field huber.json iteration q_relu)" != "$(field huber.json iteration q)" ]
batch() { sed -n "s/.*activations and scratch \([0-9.]*\) MB.*/\1/p" "$1"; }
bounded --batch 256 --log-json relu.json
cp told relu-told
bounded --batch 256 --huber .1
awk -v one="$(batch relu-told)" -v two="$(batch told)" 'BEGIN { exit !(two > 1.5 * one) }' || die "$(cat relu-told told)"
[ -z "$(field relu.json iteration q_relu)" ]
bounded --huber 1e-12 --spectral 100 --epochs 6 --nu-permutation 1e6
grep -q 'by more than these, as the theorem has it' told || die "$(cat told)"

# what it refuses
mc-train -q -t 1 --net mlp:bn,9 --data d.mcz --epochs 1 -o other.mcz
mc-permute --identity other.mcz -o other-p.mcz
pam="pam --permutation-epochs 1 --epochs 1 -o no.mcz"
fails 3 'other-p.mcz: the permutation is of another network' $pam --perm other-p.mcz n1.mcz n2.mcz
fails 3 'bezier.mcz: is a curve without a permutation' $pam --perm bezier.mcz n1.mcz n2.mcz
fails 3 'bezier.mcz: is a curve without a permutation' mc-permute bezier.mcz n2.mcz -o no.mcz
fails 3 'weights stream' $pam --perm n1.mcz n1.mcz n2.mcz
fails 3 'weights stream' $pam --init n1.mcz n1.mcz n2.mcz
fails 3 'is not a curve from n2.mcz' $pam --init curve.mcz n2.mcz n1.mcz
fails 3 'different networks' $pam n1.mcz other.mcz
fails 2 '--perm and --init exclude each other' $pam --perm p.mcz --init curve.mcz n1.mcz n2.mcz
fails 2 '--spectral needs --huber' $pam --spectral 3 n1.mcz n2.mcz
fails 2 '--draws has no effect with --stage curve' pam --stage curve --draws 3 n1.mcz n2.mcz -o no.mcz
fails 2 '--nu-curve has no effect with --stage permutation' pam --stage permutation --nu-curve 3 n1.mcz n2.mcz -o no.mcz
fails 2 '--epochs has no effect with --stage permutation' pam --stage permutation --epochs 3 n1.mcz n2.mcz -o no.mcz
fails 2 'no epoch' pam --permutation-epochs 0 --epochs 0 n1.mcz n2.mcz -o no.mcz
fails 2 'no epoch' pam --stage permutation --permutation-epochs 0 n1.mcz n2.mcz -o no.mcz
fails 2 'no epoch' pam --stage curve --epochs 0 n1.mcz n2.mcz -o no.mcz
fails 2 '--draws has no effect without a permutation step' pam --permutation-epochs 0 --epochs 1 --draws 3 n1.mcz n2.mcz -o no.mcz
fails 2 '--nu-curve has no effect without a curve step' pam --permutation-epochs 1 --epochs 0 --nu-curve 3 n1.mcz n2.mcz -o no.mcz
fails 2 '--momentum has no effect without a curve step' pam --permutation-epochs 1 --epochs 0 --momentum .5 n1.mcz n2.mcz -o no.mcz
fails 2 '--no-nesterov has no effect with --stage permutation' pam --stage permutation --no-nesterov n1.mcz n2.mcz -o no.mcz
fails 2 '--momentum 1: ' $pam --momentum 1 n1.mcz n2.mcz
fails 2 '--prune-below has no effect with --draws 0' $pam --draws 0 --prune-below .1 n1.mcz n2.mcz
fails 2 '--terms has no effect with --draws 0' $pam --draws 0 --terms 3 n1.mcz n2.mcz
fails 2 "'4097'" $pam --draws 4097 n1.mcz n2.mcz
fails 2 '1010000 epochs to train in all' pam --outer 10000 --permutation-epochs 1 --epochs 100 n1.mcz n2.mcz -o no.mcz
fails 2 'permutation' $pam --stage neither n1.mcz n2.mcz
fails 2 "'0'" $pam --outer 0 n1.mcz n2.mcz
fails 2 "'-1'" $pam --nu-curve -1 n1.mcz n2.mcz
fails 2 'two weights' $pam n1.mcz
fails 2 'needs --data' mc-pam n1.mcz n2.mcz -o no.mcz
fails 2 'standard input' $pam --perm - - n2.mcz
fails 2 'batch' $pam --spectral 3 --huber .1 n1.mcz n2.mcz
fails 2 'more than the 0.001' $pam --spectral .001 --huber .1 plain.mcz plain.mcz
fails 1 "not finite" pam --stage curve --epochs 3 --lr 1e6 --weight-decay 1 plain.mcz plain.mcz -o no.mcz
for f in n1 curve p d; do head -c 900 $f.mcz >cut-$f.mcz; done
fails 3 'cut-n1.mcz' $pam cut-n1.mcz n2.mcz
fails 3 'cut-n1.mcz' $pam n1.mcz cut-n1.mcz
fails 3 'cut-curve.mcz' $pam --perm cut-curve.mcz n1.mcz n2.mcz
fails 3 'cut-curve.mcz' $pam --init cut-curve.mcz n1.mcz n2.mcz
head -c $(($(wc -c <p.mcz) - 5)) p.mcz >cut-p.mcz
fails 3 'cut-p.mcz' $pam --perm cut-p.mcz n1.mcz n2.mcz
fails 3 'cut-d.mcz' $pam --data cut-d.mcz n1.mcz n2.mcz
fails 1 'No such file' $pam --perm nothing.mcz n1.mcz n2.mcz
fails 1 '' pam --permutation-epochs 1 --epochs 1 n1.mcz n2.mcz -o /dev/full
fails 1 'nowhere' $pam --checkpoint nowhere/ck n1.mcz n2.mcz
[ ! -e no.mcz ] || die 'an output of a failed run'
# a failing upstream, without pipefail
set +o pipefail
(cat cut-p.mcz; exit 1) | pam --perm - --permutation-epochs 1 --epochs 1 n1.mcz n2.mcz >no.mcz 2>err && die 'it passed'
mc-info --check no.mcz 2>/dev/null && die 'a complete stream of a failed run'
[ "$(wc -l <err)" = 1 ]
[ "$(find . -name '.out.mcz*mc*tmp*' | wc -l)" = "$(find . -name '*mc*tmp*' | wc -l)" ] # but of what was killed
