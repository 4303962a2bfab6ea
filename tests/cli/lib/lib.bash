# SPDX-License-Identifier: Apache-2.0
# What the scripts share; tests/run has each of them read it first.
set -eu

# a network to train where any will do, and images of a data set to look at, so many at a time: under valgrind, where a
# convolution's step takes minutes and an image a second, also one that only pads the program's own batch ($small)
net=tinyten total=400 images=390 batch=32 small=
[ "$MC_UNDER" != valgrind ] || net=mlp:bn,16 total=40 images=24 batch=8 small='--batch 8'
. "$MC_ROOT/tests/cli/lib/fixtures.bash"

die() {
    echo "$*"
    exit 1
}

# fails STATUS TEXT COMMAND...: the command ends with that status, says one line with that text on stderr
# and nothing on stdout
fails() {
    local status=$1 part=$2 rc=0
    shift 2
    MC_FAILS=1 "$@" >out.fails 2>err.fails || rc=$?
    [ "$rc" = "$status" ] || die "$*: status $rc, not $status: $(cat err.fails)"
    [ "$(wc -l <err.fails)" = 1 ] || die "$*: not one line: $(cat err.fails)"
    grep -qF -- "$part" err.fails || die "$*: no '$part' in: $(cat err.fails)"
    [ ! -s out.fails ] || die "$*: wrote to stdout"
}

# unchanged STATUS TEXT COMMAND...: it fails so, and every file here stays as it was; refused TEXT COMMAND...: with status 2
unchanged() {
    local before
    touch out.fails err.fails
    before=$(files_here)
    fails "$@"
    [ "$(files_here)" = "$before" ] || die "${*:3}: changed a file"
}
refused() { unchanged 2 "$@"; }
files_here() {
    find . ! -name '*.fails' \( -type d -printf '%p %i\n' -o -printf '%p %i %s %l %T@\n' \) | sort
}
# no_data STATUS TEXT ARGUMENT...: mc-data refuses that for old.mcz
no_data() { unchanged "$1" "$2" mc-data "${@:3}" -o old.mcz; }

# says TEXT COMMAND...: it passes, and says that on stderr, and nothing else
says() {
    "${@:2}" >x.mcz 2>told || die "${*:2}: status $?: $(cat told)"
    is "$(<told)" "$1"
}

# same FILE FILE: the same bytes
same() {
    cmp "$1" "$2" || die "$1 and $2 differ"
}

# is TEXT TEXT: the same
is() {
    [ "$1" = "$2" ] || die "'$1' is not '$2'"
}

# id FILE: its content id
id() {
    mc-info --json "$1" | sed 's/.*"id": *"\([0-9a-f]*\)".*/\1/'
}

# alike FILE FILE: the same content
alike() {
    [ "$(id "$1")" = "$(id "$2")" ] || die "$1 and $2 differ in content"
}

# differ FILE FILE: another content
differ() {
    [ "$(id "$1")" != "$(id "$2")" ] || die "$1 and $2 have the same content"
}

# no_temporaries: none lies here
no_temporaries() {
    local left
    left=$(find . -name '*mc*tmp*')
    [ -z "$left" ] || die "left behind: $left"
}

# column FILE NAME: that column of a table, without the header
column() {
    awk -F '\t' -v want="$2" '!c { for (i = 1; i <= NF; i++) if ($i == want) c = i
        if (!c) exit 1; next } { print $c }' "$1"
}

# field LOG EVENT NAME: of each such line; timeless LOG: without what depends on the clock
field() {
    sed -n "/\"event\":\"$2\"/s/.*\"$3\":\([^,}]*\).*/\1/p" "$1"
}
timeless() {
    sed 's/,"images_per_second":[^}]*//' "$1"
}

# py [ARGUMENT...]: Python from standard input, with json, os, sys, mcz and np
py() {
    /usr/bin/python3 -c 'import json, os, sys, mcz, numpy as np; exec(sys.stdin.read())' "$@"
}

# one_scale ANCHOR PICTURE PICTURE...: their axes have the same numbers: "end", those left of panels; "start", of colours
one_scale() {
    py "$@" <<'END'
from picture import *
anchor, *names = sys.argv[1:]
scales = [[[v for v, _ in axis] for axis in Picture(name).columns(anchor)] for name in names]
assert len(scales) > 1 and len(scales[0]) == 2 and scales == scales[:1] * len(scales), scales
END
}

# emulated: takes the emulated device, or skips
emulated() {
    export MC_CUDA_LIBRARY=$MC_BUILD/tests/emulation/libmc-cuda.so
    [ -e "$MC_CUDA_LIBRARY" ] && [ -z "$MC_UNDER" ] || exit 77
}

# killed WHEN COMMAND...: the command, which writes a checkpoint ck, a log.json and out.*, is killed as soon as WHEN holds;
# again where it was done before. It puts $now before its program: else the shell in between dies, and the program goes on.
now=
killed() {
    local i pid rc
    for _ in {1..10}; do
        rm -f ck log.json out.*
        now='exec'
        "${@:2}" &
        pid=$! now= rc=0
        for ((i = 0; i < 6000; i++)); do
            ! eval "$1" || break
            sleep .01
        done
        kill -9 $pid || true
        wait $pid || rc=$?
        [ $rc != 137 ] || return 0
        [ $rc = 0 ] || die "it ended with $rc before it was killed"
    done
    die 'it was done before it could be killed'
} 2>/dev/null

# graph NAME SETTING...: makes that graph of a small experiment; what is said is in log and told
graph() {
    local of=(DATA=synth NET=mlp:bn,16) graph=$1.mk
    [ "$1" != paper ] || of=(DATA_SETS=synth NETS=mlp PAIRS=1:2) graph=paper/paper.mk
    $now make -f "$MC_ROOT/pipelines/$graph" BIN="$MC_BUILD/bin" "${of[@]}" TRAIN_IMAGES=512 TEST_IMAGES=100 \
        LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out "${@:2}" >log 2>told || die "$(cat log told)"
}

# makes PROGRAMS NAME SETTING...: makes that graph, which starts these programs
makes() {
    graph "${@:2}"
    is "$(ran)" "$1"
}

# kill_graph PATTERN NAME SETTING... OUT=FOLDER: kills that graph with its jobs when a file of this name is there, a checkpoint;
# again, without what that was of, where the training was done between two looks
kill_graph() {
    local i out=${*: -1}
    out=${out#OUT=}
    (
        now='exec setsid'
        for _ in {1..10}; do
            graph "${@:2}" &
            for ((i = 0; i < 6000; i++)); do
                [ -z "$(find "$out" -name "$1")" ] && kill -0 $! || break
                sleep .02
            done
            ! kill -9 -- -$! || exit 0
            find "$out" -name "${1%checkpoint}" -delete
        done
        die 'it was done before it was killed'
    ) 2>/dev/null
}

# ran: the programs that the last graph started, each with how often
ran() {
    { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'
}

# recorder: leaves ./record, for RUN, which writes the words of a job to `recorded` and makes its output files empty
recorder() {
    cat >record <<'END'
#!/bin/bash
echo "$*" >>recorded
for ((i = 1; i < $#; i++)); do
    case ${!i} in -o | --summary | --losses | --marks | --log-json) j=$((i + 1)) && : >"${!j}" ;; esac
done
END
    chmod +x record
}

# tables KIND FILE...: the graphs' tables
tables() { "$MC_ROOT/pipelines/tables/tables" "$@"; }

# fixture NAME...: copies of what make_NAME makes, once a run of tests/run
fixture() {
    local name
    for name; do
        (
            flock 9
            [ -e "$MC_FIXTURES/$name" ] || {
                rm -rf "$MC_FIXTURES/part-$name"
                mkdir "$MC_FIXTURES/part-$name"
                cd "$MC_FIXTURES/part-$name"
                "make_$name"
                mv "$MC_FIXTURES/part-$name" "$MC_FIXTURES/$name"
            }
        ) 9>>"$MC_FIXTURES/$name.lock"
        cp -a "$MC_FIXTURES/$name/." .
    done
}

# agree BOUND FILE FILE: streams of matrices whose entries nowhere differ by more
agree() {
    py "$@" <<'END'
bound, x, y = float(sys.argv[1]), mcz.read(sys.argv[2]), mcz.read(sys.argv[3])
worst = max(np.abs(x.tensors[k] - y.tensors[k]).max() for k in x.tensors)
assert x.meta == y.meta and worst <= bound, worst
END
}

# recovered PLANTED FOUND MATRICES...: lib/recovery_check.py
recovered() {
    /usr/bin/python3 "$MC_ROOT/tests/cli/lib/recovery_check.py" "$@"
}

# computed_with FILE PROGRAM PATTERN: that program's last run there was computed with what matches, and with nothing else
computed_with() {
    local entry
    entry=$(mc-info "$1" | sed -nE "s/^ *[0-9]+  $2 .* (device=.*)/\1/; T; s/  from .*//; p" | tail -n 1)
    [[ $entry =~ ^$3$ ]] || die "$1: not '$3' in: $(mc-info "$1")"
}
onednn='onednn=[0-9.]+' table='algorithms=[0-9a-f]{8}'

# every OPTION...: all programs with these options, their streams in a folder
every() {
    local on=(-q --data d.mcz "$@") s
    rm -rf out && mkdir out
    for s in 1 2; do mc-train "${on[@]}" --net mlp:bn,8 --batch 16 --epochs 1 --lr .01 --seed $s -o out/n$s.mcz; done
    mc-bezier "${on[@]}" --batch 16 --epochs 1 --lr .01 out/n1.mcz out/n2.mcz -o out/curve.mcz
    mc-bezier -q "$@" --point .5 --bn-data d.mcz --bn-samples 64 out/curve.mcz -o out/point.mcz
    mc-pam "${on[@]}" --batch 16 --permutation-epochs 1 --epochs 1 --lr .01 out/n1.mcz out/n2.mcz -o out/pam.mcz
    mc-pgd "${on[@]}" --eps 4/255 --steps 1 out/n1.mcz -o out/pgd.mcz
    mc-acts "${on[@]}" --samples 64 out/n1.mcz out/n2.mcz -o out/moments.mcz
    mc-acts "${on[@]}" --samples 64 --raw out/n1.mcz -o out/raw.mcz
}
# all_computed_with PATTERN
all_computed_with() {
    computed_with out/n1.mcz mc-train "$1"
    for s in curve point; do computed_with out/$s.mcz mc-bezier "$1"; done
    computed_with out/pam.mcz mc-pam "$1"
    computed_with out/pgd.mcz mc-pgd "$1"
    for s in moments raw; do computed_with out/$s.mcz mc-acts "$1"; done
}
