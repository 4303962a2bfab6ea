# SPDX-License-Identifier: Apache-2.0
# mc-train learns, gives the same bytes twice, and the log says what happened.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 768 --seed 3 -o d.mcz
train() { mc-train --net $net --data d.mcz --epochs 3 --schedule onecycle -t 2 "$@"; }
train --seed 1 --log-json log.json -o a.mcz
train --seed 1 >again.mcz
same a.mcz again.mcz
train --seed 1 --data - -o piped.mcz <d.mcz
[ "$(id a.mcz)" = "$(id piped.mcz)" ]
train --seed 2 -o b.mcz
[ "$(id a.mcz)" != "$(id b.mcz)" ] || die 'another seed gives the same network'
mc-info --check a.mcz
[ "$(wc -l <log.json)" = 3 ]
# the loss falls
awk -F '"loss":' '{ sub(/,.*/, "", $2); if (NR == 1) first = $2; last = $2 }
    END { exit !(last < first - .1) }' log.json || die "no fall: $(cat log.json)"
# the memory that a run takes is said before its images are read
head -c $(($(stat -c %s d.mcz) - 7)) d.mcz >cut.mcz
mc-train -v --net tinyten --data cut.mcz --batch 100 --checkpoint ck --epochs 1 -o no.mcz 2>err && die 'it passed'
grep -q 'memory: 768 images of synth 2.4 MB, .* scratch [1-9][0-9.]* MB, 6 vectors of .* 2.1 MB$' err || die "$(cat err)"
# without history the id stays
train --seed 1 --no-history -o bare.mcz
[ "$(id a.mcz)" = "$(id bare.mcz)" ]
mc-info --json bare.mcz | grep -q '"history": *\[\]'
# a stranger's batch size, a short last batch, no augmentation, weights to begin with
train --init a.mcz --net $net -o c.mcz 2>err && die '--net and --init together pass'
grep -q 'one of --net' err
mc-train --init a.mcz --data d.mcz --epochs 1 --batch 100 --no-augment --lr 0 -o c.mcz
mc-train --net mlp:32,16 --data d.mcz --epochs 1 --lr 0.01 -o m.mcz
mc-train --net mlp:bn,32 --data d.mcz --epochs 0 -o fresh.mcz
mc-info --check c.mcz m.mcz fresh.mcz
# options reach the loop: each changes the network
for option in '--huber 1' '--weight-decay 0' '--no-nesterov' '--momentum 0.5' '--schedule step:1' '--no-augment' \
    '--batch 64' '--samples 700' '--lr 0.03'; do
    train --seed 1 $option -o other.mcz
    [ "$(id other.mcz)" != "$(id a.mcz)" ] || die "$option changes nothing"
done
no_temporaries
