#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# How fast networks train and are measured here, and what they need; see the usage below. For `paper.mk cost`.
set -eu
. "$(dirname "$(readlink -f "$0")")/include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: rates.sh THREADS DEVICE RATES NET...
Measure networks of mc-train on synthetic images of 32 x 32, 128 a step: a line each, NET, images/s in training and in
evaluation, MB of a batch's activations and scratch, bytes of its weights as a stream. One in a FILE.json is measured on
noise of the size that it takes, and the figures are for 32 x 32 in proportion. Not measured are those whose rates are
given, RATES="NET=TRAINING:EVALUATION ...". DEVICE is auto, cpu or cuda[:N].

Some seconds a network. Exit status: 0 done, 1 failed, 2 usage.
END
}
case $#-${1:-} in
1--h | 1---help)
    usage
    exit 0
    ;;
[0-3]-*)
    echo 'rates.sh: THREADS, DEVICE, RATES and a network are needed (see rates.sh -h)' >&2
    exit 2
    ;;
esac
on="-t $1 --device $2" rates=$3 batch=128
shift 3
for r in $rates; do
    echo "$r" | grep -Eq '^[^=]+=[0-9]+\.?[0-9]*:[0-9]+\.?[0-9]*$' || {
        echo "rates.sh: RATES: '$r' is not NET=TRAINING:EVALUATION, in images/s" >&2
        exit 2
    }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
number() { awk "BEGIN { printf \"%.0f\", ($1) }"; }

# timed COMMAND...: its seconds
timed() {
    began=$(date +%s%N)
    "$@" >"$folder/said"
    number "($(date +%s%N) - $began) / 1e3" # microseconds
}

# idx DIMENSION...: an idx file of bytes begins so
idx() {
    printf "\\000\\000\\010\\00$#"
    for d; do printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((d >> 24)) $((d >> 16 & 255)) $((d >> 8 & 255)) $((d & 255)))"; done
}
# some IMAGES FILE: such as the network takes
some() {
    if [ -z "$input" ]; then
        mc-data synth --samples "$1" -o "$2"
        return
    fi
    { idx "$1" $input; head -c $(($1 * pixels)) /dev/urandom; } >"$folder/x"
    { idx "$1"; head -c "$1" /dev/zero; } >"$folder/y"
    mc-data -q idx --layout nchw --classes "$classes" "$folder/x" "$folder/y" -o "$2"
}

for net; do
    input='' area=1024
    if [ -f "$net" ]; then
        input=$(tr -d '[:space:]' <"$net" | sed -n 's/.*"input":\[\([0-9]*\),\([0-9]*\),\([0-9]*\)\].*/\1 \2 \3/p')
        classes=$(tr -d '[:space:]' <"$net" | sed -n 's/.*"classes":\([0-9]*\).*/\1/p')
        area=$(echo "$input" | awk '{ print NF == 3 ? $2 * $3 : 1024 }')
        pixels=$(echo "$input" | awk '{ print $1 * $2 * $3 }')
    fi
    some 8 "$folder/few.mcz"
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
        [ ! -t 2 ] || echo "rates.sh: measuring $(printf %s "$net" | tr -d "[:cntrl:]")" >&2
        # about 20 GFLOP forwards, then more where that is done in a moment
        images=$(number "20000 / ${mflop:-100} < 32 ? 32 : 20000 / ${mflop:-100} > 50000 ? 50000 : 20000 / ${mflop:-100}")
        while :; do
            some "$images" "$folder/data.mcz"
            mc-train -q $on --net "$net" --data "$folder/data.mcz" --batch "$([ "$images" -lt "$batch" ] && echo 32 || echo "$batch")" \
                --lr 1e-4 --epochs 1 --log-json "$folder/log" -o "$folder/net.mcz"
            training=$(sed -n 's/.*"images_per_second":\([0-9.e+]*\).*/\1/p' "$folder/log")
            [ "$(number "$images / $training < 2 && $images < 50000")" = 1 ] || break
            images=$(number "$images * 8 < 50000 ? $images * 8 : 50000")
        done
        start=$(timed mc-eval -q $on --data "$folder/few.mcz" "$folder/net.mcz")
        all=$(timed mc-eval -q $on --full --data "$folder/data.mcz" "$folder/net.mcz")
        known=$(awk "BEGIN { s = ($all - $start) / 1e6; e = ($images - 8) / (s > .001 ? s : .001)
            print $training * $area / 1024 \":\" e * $area / 1024 }")
    fi
    echo "$net $(awk "BEGIN { printf \"%.6g %.6g %.6g\", ${known%:*}, ${known#*:}, ${memory:-0} * 1024 / $area }") $size"
done
