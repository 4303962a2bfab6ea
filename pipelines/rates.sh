#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# How fast networks train and are measured here, and what they need; see the usage below. For `paper.mk cost`.
set -eu
. "$(dirname "$(readlink -f "$0")")/locale.sh" || exit 1

usage() {
    cat <<'END'
Usage: rates.sh [-r RATES] [-t THREADS] [-d DEVICE] [-b BATCH] NET...
Measure networks of mc-train on synthetic images of 32 x 32: a line each, NET, images/s in training and in evaluation,
MB of a batch's activations and scratch, bytes of its weights as a stream.

  -r RATES   not measured are those of "NET=TRAINING:EVALUATION ..."
  -t THREADS (default: 2)
  -d DEVICE  auto, cpu or cuda[:N] (default: auto)
  -b BATCH   images a step (default: 128)
  -h         print this and exit

Some seconds a network. Exit status: 0 done, 1 failed, 2 usage.
END
}
wrong() {
    echo "rates.sh: $1 (see rates.sh -h)" >&2
    exit 2
}
[ "${1:-}" != --help ] || set -- -h
rates='' threads=2 device=auto batch=128
while getopts :r:t:d:b:h option; do
    case $option in
    r) rates=$OPTARG ;;
    t) threads=$OPTARG ;;
    d) device=$OPTARG ;;
    b) batch=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    :) wrong "-$OPTARG needs a word" ;;
    *) wrong "there is no option '-$OPTARG'" ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || wrong 'a network is needed'
for r in $rates; do
    echo "$r" | grep -Eq '^[^=]+=[0-9]+\.?[0-9]*:[0-9]+\.?[0-9]*$' || wrong "RATES: '$r' is not NET=TRAINING:EVALUATION, in images/s"
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
on="-t $threads --device $device"
number() { awk "BEGIN { printf \"%.0f\", ($1) }"; }

# timed COMMAND...: its seconds
timed() {
    began=$(date +%s%N)
    "$@" >"$folder/said"
    number "($(date +%s%N) - $began) / 1e3" # microseconds
}

for net; do
    mc-data synth --samples 8 -o "$folder/few.mcz"
    # a network that is not trained says all but how fast it is
    mc-train -v $on --net "$net" --data "$folder/few.mcz" --batch "$batch" --epochs 0 -o "$folder/net.mcz" 2>"$folder/told" || {
        cat "$folder/told" >&2
        exit 1
    }
    mflop=$(sed -n 's/.* \([0-9.]*\) MFLOP an image.*/\1/p' "$folder/told")
    memory=$(sed -n 's/.*activations and scratch \([0-9.]*\) MB.*/\1/p' "$folder/told")
    size=$(wc -c <"$folder/net.mcz")
    known=
    for r in $rates; do [ "${r%%=*}" != "$net" ] || known=${r#*=}; done
    if [ -z "$known" ]; then
        # about 20 GFLOP forwards, then more where that is done in a moment
        images=$(number "20000 / ${mflop:-100} < 32 ? 32 : 20000 / ${mflop:-100} > 50000 ? 50000 : 20000 / ${mflop:-100}")
        while :; do
            mc-data synth --samples "$images" -o "$folder/data.mcz"
            mc-train -q $on --net "$net" --data "$folder/data.mcz" --batch "$([ "$images" -lt "$batch" ] && echo 32 || echo "$batch")" \
                --lr 1e-4 --epochs 1 --log-json "$folder/log" -o "$folder/net.mcz"
            training=$(sed -n 's/.*"images_per_second":\([0-9.e+]*\).*/\1/p' "$folder/log")
            [ "$(number "$images / $training < 2 && $images < 50000")" = 1 ] || break
            images=$(number "$images * 8 < 50000 ? $images * 8 : 50000")
        done
        start=$(timed mc-eval -q $on --data "$folder/few.mcz" "$folder/net.mcz")
        all=$(timed mc-eval -q $on --full --data "$folder/data.mcz" "$folder/net.mcz")
        known=$training:$(awk "BEGIN { s = ($all - $start) / 1e6; print ($images - 8) / (s > .001 ? s : .001) }")
    fi
    echo "$net $(awk "BEGIN { printf \"%.4g %.4g\", ${known%:*}, ${known#*:} }") ${memory:-0} $size"
done
