# SPDX-License-Identifier: Apache-2.0
# 200 training steps on a device and on the CPU, on augmented images that can be learned. Each quarter's mean loss
# agrees with the CPU's within 2%, and falls. Steps are small: with --lr .05 the CPU's own losses with 1 to 16 threads
# differ by 7%, with .003 by less than 1%. $MC_GPU_NETS lists the networks, separated by spaces.
[ "${MC_UNDER:-}" != memcheck ] || exit 77 # the programs do not run under memcheck
batch=${MC_GPU_BATCH:-128}

mc-data synth --samples $((50 * batch)) -o d.mcz
for net in ${MC_GPU_NETS:-tinyten resnet32}; do
    for device in cpu "$MC_TEST_DEVICE"; do
        mc-train --net "$net" --data d.mcz --batch "$batch" --epochs 4 --lr .003 --device "$device" \
            --log-json "$device.json" -o w.mcz
        sed -nE 's/.*"event": *"epoch".*"loss": *([0-9.e+-]+).*/\1/p' "$device.json" >"$device.losses"
        [ "$(wc -l <"$device.losses")" = 4 ] || die "$(cat "$device.json")"
        rm "$device.json"
    done
    echo "$net: $(paste cpu.losses "$MC_TEST_DEVICE.losses" | tr '\t\n' ' ;')"
    paste cpu.losses "$MC_TEST_DEVICE.losses" | awk '
        NR == 1 { first = $2 }
        { off = $2 - $1; if (!(off <= .02 * $1 && off >= -.02 * $1)) exit bad = 1 }
        END { exit bad || !($2 < .95 * first) }' || die "$net: the losses differ"
done
