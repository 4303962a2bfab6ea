# SPDX-License-Identifier: Apache-2.0
# No program writes over what it reads, nor two outputs into one file: every option and operand that names
# a file is looked at before anything is opened, through links, redirections and other names.
. "$MC_ROOT/tests/cli/lib.bash"
samples=$MC_ROOT/formats/samples

# refused TEXT COMMAND...: with status 2 and that text, and every file here stays as it was
refused() {
    find . ! -name '*.fails' -printf '%p %i %s %l\n' | sort >"$TMP/before"
    fails 2 "$@"
    find . ! -name '*.fails' -printf '%p %i %s %l\n' | sort | cmp "$TMP/before" - || die "${*:2}: changed a file"
}

# files PROGRAM WORDS ROLE:OPTION...: each output as the same file as every other of them is refused. ROLE: in,
# out, or kept, an input that -o may replace; without OPTION an operand. Names end in .json for --net's sake.
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
            refused "same file 'same.json'" "${command[@]}"
        done
    done
}

mkdir "$TMP/here"
cd "$TMP/here" || exit
touch out.fails err.fails
fit="out:--checkpoint out:--log-json out:--output"
files mc-train "--net mlp:8" in:--data $fit
files mc-train "" in:--net in:--data $fit
files mc-train --resume in:--init in:--data $fit
files mc-bezier "" in:--data in: in: $fit
files mc-bezier "--point .5" in:--bn-data in: out:--output
files mc-pam "" in:--data in:--perm in: in: $fit
files mc-pam "" in:--data in:--init in: in: $fit
files mc-acts "" in:--data in: in: out:--output
files mc-corr "" in: in: out:--output
files mc-corr --signature in:--perm in: out:--output
files mc-hungarian "" in:--constraint in: out:--output
files mc-permute "" in:--verify in: kept: out:--perm-out out:--output
files mc-permute --identity in: out:--output
files mc-pgd "" in:--data in: out:--log-json out:--output
files mc-eval "" in:--data in:--data in:--bn-data in: out:--summary out:--checkpoint out:--output
files mc-eval --plane in:--data in: in: in: out:--marks out:--checkpoint out:--output
files mc-convert "--to npz" in: in:--map out:--output
files mc-convert "--from npz" in: in:--net in:--data out:--output
files mc-convert "--from npz" in: in:--like out:--output
files mc-plot "log --format svg" in: in: out:--output
files mc-plot "plane --format svg" in: in: out:--output
files mc-data synth out:--output
# and these are all that there are
for program in "$MC_BUILD"/bin/mc-*; do
    program=${program##*/}
    "$program" --help >"$TMP/help"
    grep -oE -- '--[a-z-]+=(\[NAME=\])?(FILE|DATASET|MATRICES|WEIGHTS)\b' "$TMP/help" | sed 's/=.*//' | sort -u >"$TMP/options" || true
    while read -r option; do
        grep -qx -- "$program $option" "$TMP/tried" || die "$program $option was not tried"
    done <"$TMP/options"
done

# one file by other names
cp "$samples/good-dataset.mcz" d.mcz
cp "$samples/good-weights.mcz" w.mcz
cp "$samples/good-permutation.mcz" p.mcz
ln -s d.mcz link && ln d.mcz hard && ln -s nothing dangling && mkdir sub && ln -s ../../here sub/here
train="mc-train -q --no-augment --net mlp:8 --epochs 1 --data d.mcz"
for name in link hard ./d.mcz sub/../d.mcz "$PWD/d.mcz" sub/here/d.mcz; do
    refused "--log-json and --data are the same file '$name'" $train --log-json "$name" -o x
    refused "--output and --data are the same file '$name'" $train -o "$name"
done
refused "--log-json and standard input are the same file 'd.mcz'" $train --data - --log-json d.mcz -o x <d.mcz
refused "--log-json and --data are the same file 'd.mcz'" $train --data /dev/stdin --log-json d.mcz -o x <hard
for name in ./x sub/../x "$PWD/x" sub/here/x; do
    refused "--log-json and --output are the same file '$name'" $train -o x --log-json "$name"
done
refused "are the same file 'dangling'" $train -o nothing --log-json dangling
: >x
refused "--log-json and standard output are the same file 'x'" sh -c "$train --log-json x >>x"
refused "standard output and an input are the same file 'w.mcz'" sh -c 'mc-permute p.mcz w.mcz 1<>w.mcz'
refused "only one output can be standard output" mc-permute p.mcz w.mcz --perm-out -
refused "only one input can be standard input" mc-plot path - a=-
rm x

# a publisher's file is an input too; a stream in its folder is none
mkdir -p set/train/{cat,dog}
printf 'old' >set/train/cat/0.jpg
refused "'set/train/cat/0.jpg' is one of the files in the input 'set'" mc-data folder set -o set/train/cat/0.jpg
refused "is one of the files in the input 'set/'" mc-data folder set/ -o sub/../set/train/cat/0.jpg
cp d.mcz set/d.mcz
rm set/train/cat/0.jpg
fails 3 "set" mc-data folder set -o set/d.mcz

# what is no loss: a permuted network in place of itself, and many outputs that go nowhere
mc-permute p.mcz w.mcz -o "$TMP/pw.mcz"
cp p.mcz inverse.mcz
refused "--output and an input are the same file 'inverse.mcz'" mc-permute --inverse inverse.mcz -o inverse.mcz
refused "--output and an input are the same file 'inverse.mcz'" mc-permute --compose p.mcz inverse.mcz -o inverse.mcz
mc-permute --inverse p.mcz -o inverse.mcz
mc-permute p.mcz w.mcz -o w.mcz
same "$TMP/pw.mcz" w.mcz
mc-permute inverse.mcz w.mcz -o w.mcz
[ "$(id w.mcz)" = "$(id "$samples/good-weights.mcz")" ] || die "the inverse does not lead back"
$train --log-json /dev/null -o /dev/null
$train --log-json /dev/stderr -o x.mcz 2>&1 | cat >log
grep -q '"event":"epoch"' log || die "no log: $(cat log)"
# what messages go to, a pipe that carries the result, somebody's text
echo old >log
$train --log-json /dev/stderr -o x.mcz 2>>log && die 'the log wrote over the messages'
[ "$(head -n 1 log)" = old ] && grep -q 'standard error are the same file' log || die "$(cat log)"
$train --log-json /dev/stdout 2>told | cat >y.mcz
[ "${PIPESTATUS[0]}" = 2 ] || die 'the log went into the result'
grep -q -- "--log-json and standard output are the same file" told || die "$(cat told)"
echo 'chapter one' >thesis.txt
refused "--log-json: 'thesis.txt' is there and is no log" $train --log-json thesis.txt -o x.mcz
echo '{"layers": []}' >net.json
refused "--log-json: 'net.json' is there and is no log" $train --log-json net.json -o x.mcz
echo '{"event":"epoch"}' >all.jsonl
(refused "--log-json and standard output are the same file" $train --log-json /dev/stdout -o x.mcz) >>all.jsonl
[ "$(cat all.jsonl)" = '{"event":"epoch"}' ] || die "$(cat all.jsonl)"
fails 2 "--checkpoint needs a file" $train --checkpoint - -o x.mcz
fails 2 "--checkpoint needs a file" mc-eval -q --data d.mcz --plane --grid 2 --checkpoint - w.mcz w.mcz w.mcz -o x.tsv
rm log
$train --log-json log | cat >y.mcz
same x.mcz y.mcz
