# SPDX-License-Identifier: Apache-2.0
# Programs check all file names before opening any file: an output must not be an input or another output.
samples=$MC_ROOT/formats/samples
# files PROGRAM WORDS ROLE:OPTION...: refuses each output that is the same file as any other. ROLE is in, out, or kept (an
# input that -o may replace); without OPTION it is an operand. Names end in .json for --net.
files() {
    local program=$1 words=$2 i j k name command
    shift 2
    local all=("$@")
    printf "$program %s\n" "${all[@]#*:}" >>"$TMP/tried"
    for i in "${!all[@]}"; do
        for j in "${!all[@]}"; do
            [[ ${all[i]} == out:* && $i != "$j" && ${all[i]}${all[j]} != out:--outputkept:* ]] || continue
            rm -f ./*.json
            # shellcheck disable=SC2206 # some words
            command=($program $words)
            for k in "${!all[@]}"; do
                name=$k.json
                [[ $k != "$i" && $k != "$j" ]] || name=same.json
                [[ ${all[k]} == out:* ]] || echo input >"$name"
                [[ ${all[k]} == *: ]] || command+=("${all[k]#*:}")
                command+=("$name")
            done
            usage_error "same file 'same.json'" "${command[@]}"
        done
    done
}

mkdir "$TMP/here"
cd "$TMP/here" || exit
fit="out:--checkpoint out:--log-json out:--output"
files mc-train "--net mlp:8" in:--data in:--val $fit
files mc-train "" in:--net in:--data $fit
files mc-train --resume in:--init in:--data $fit
files mc-bezier "" in:--data in: in: $fit
files mc-bezier "--epochs 0" in:--start in:--perm in: in: out:--output
files mc-bezier --inner in: out:--output
files mc-bezier "--point .5" in:--bn-data in: out:--output
files mc-pam "" in:--data in:--perm in: in: $fit
files mc-pam "" in:--data in:--init in: in: $fit
files mc-acts "" in:--data in: in: out:--output
files mc-corr "" in: in: out:--output
files mc-corr --signature in:--perm in: out:--output
files mc-bound "" in: in: in: in: out:--path out:--output
files mc-bootstrap "" in: in: out:--output
files mc-hungarian "" in:--constraint in: out:--output
files mc-hungarian --joint in: in: out:--table out:--output
files mc-hungarian --joint in:--score in: in: out:--output
files mc-procrustes "" in: out:--output
files mc-match "" in:--init in: in: out:--log-json out:--output
files mc-match --joint in: in: in: out:--log-json out:--output
files mc-permute "" in:--verify in: kept: out:--perm-out out:--output
files mc-permute --identity in: out:--output
files mc-permute --join in: in: out:--output
files mc-merge "" in: in: in: out:--output
files mc-repair "" in:--data in: out:--output
files mc-pgd "" in:--data in: out:--log-json out:--output
files mc-eval "" in:--data in:--data in:--bn-data in: out:--summary out:--checkpoint out:--output
files mc-eval "" in:--data in: out:--losses out:--output
files mc-eval --line in:--data in: in: out:--summary out:--checkpoint out:--output
files mc-eval --plane in:--data in: in: in: out:--marks out:--checkpoint out:--output
files mc-convert "--to npz" in: in:--map out:--output
files mc-convert "--from npz" in: in:--net in:--data out:--output
files mc-convert "--from npz" in: in:--like out:--output
files mc-convert "--from npz" in: in:--groups out:--output
files mc-plot "log --format svg" in: in: out:--output
files mc-plot "dots --columns x --format svg" in: out:--output
files mc-plot "plane --format svg" in: in: out:--output
files mc-data synth out:--output
files mc-align "" in: in: in:--data out:--plot out:--output
files mc-align "" in: in: in:--groups out:--output
files mc-data npz in: out:--output
files mc-data idx in: in: out:--output
# the list is complete
for program in "$MC_BUILD"/bin/mc-*; do
    program=${program##*/}
    "$program" --help >"$TMP/help"
    grep -oE -- '--[a-z-]+=(\[NAME=\])?(FILE|DATASET|MATRICES|WEIGHTS)\b' "$TMP/help" | sed 's/=.*//' | sort -u >"$TMP/options" || true
    while read -r option; do
        grep -qx -- "$program $option" "$TMP/tried" || die "$program $option was not tried"
    done <"$TMP/options"
done
