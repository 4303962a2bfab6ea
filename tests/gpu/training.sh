# SPDX-License-Identifier: Apache-2.0
# 200 steps of training on a device and on the CPU, on images that can be learned, augmented: each quarter's mean
# loss is the CPU's within 5%, of the first quarter's tenth where it is smaller than that (two orders of float32 sums
# part the more, the further training is), and it falls. $MC_GPU_NETS, words, are the networks.
[ "${MC_UNDER:-}" != memcheck ] || exit 77 # the programs do not run under it
batch=${MC_GPU_BATCH:-128}

mc-data synth --samples $((50 * batch)) -o d.mcz
for net in ${MC_GPU_NETS:-tinyten resnet32}; do
    for device in cpu "$MC_TEST_DEVICE"; do
        mc-train --net "$net" --data d.mcz --batch "$batch" --epochs 4 --lr .05 --device "$device" \
            --log-json "$device.json" -o w.mcz
        sed -nE 's/.*"event": *"epoch".*"loss": *([0-9.e+-]+).*/\1/p' "$device.json" >"$device.losses"
        [ "$(wc -l <"$device.losses")" = 4 ] || die "$(cat "$device.json")"
        rm "$device.json"
    done
    echo "$net: $(paste cpu.losses "$MC_TEST_DEVICE.losses" | tr '\t\n' ' ;')"
    paste cpu.losses "$MC_TEST_DEVICE.losses" | awk '
        NR == 1 { first = $2; least = $1 / 10 }
        { off = $2 - $1; most = .05 * ($1 > least ? $1 : least); if (!(off <= most && off >= -most)) exit bad = 1 }
        END { exit bad || !($2 < .95 * first) }' || die "$net: the losses part"
done
