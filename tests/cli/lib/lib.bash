# SPDX-License-Identifier: Apache-2.0
# Functions and variables for all scripts in tests/cli and tests/parity. tests/run sources this file before each script.
set -eu

# A network for tests that can use any network, and the sizes of their data. Under valgrind, a convolution takes minutes per
# step, so the network is an mlp. $small then sets the batch of commands that otherwise use the program's default.
net=tinyten total=400 images=390 batch=32 small=
[ "$MC_UNDER" != valgrind ] || net=mlp:bn,16 total=40 images=24 batch=8 small='--batch 8'
. "$MC_ROOT/tests/cli/lib/fixtures.bash"

die() {
    echo "$*"
    exit 1
}

# A test of a message checks the object (a file, an option, a number) and the words that distinguish the problem, so that a
# message can be reworded without changing tests: fails 3 'x.tsv*column*missing' mc-plot path x.tsv
# One test per program compares whole messages: its head comment says "pins the wording", and it calls fails_with.
#
# has_words FILE WORDS: whether a line of FILE contains WORDS. `*` in WORDS is any text, every other character is itself. A
# number is whole: '4 images' is not in '14 images'.
# expect_words FILE WORDS: expects this
# expect_lines FILE LINES: expects as many lines in FILE as in LINES, each with the words of its line
has_words() {
    LC_ALL=C grep -q -- "$(sed 's/[][\.^$]/\\&/g; s/\(^\|\*\)\([0-9]\)/\1\\b\2/g; s/\([0-9]\)\(\*\|$\)/\1\\b\2/g; s/\*/.*/g' <<<"$2")" "$1"
}
expect_words() { has_words "$@" || die "'$2' expected, got: $(cat "$1")"; }
expect_lines() {
    local line n=0
    while [ -n "$2" ] && read -r line; do
        n=$((n + 1))
        sed -n ${n}p "$1" | has_words - "$line" || die "'$line' expected, got: $(cat "$1")"
    done <<<"$2"
    [ "$(wc -l <"$1")" = $n ] || die "$n lines expected, got: $(cat "$1")"
}

# fails STATUS WORDS COMMAND...: expects the command to exit with this status, to print one line to stderr, with a program's
# name and WORDS, and to print nothing to stdout
fails() {
    local status=$1 words=$2 rc=0
    shift 2
    MC_FAILS=1 "$@" >out.fails 2>err.fails || rc=$?
    [ "$rc" = "$status" ] || die "$*: status $status expected, got $rc: $(cat err.fails)"
    [ "$(wc -l <err.fails)" = 1 ] || die "$*: one line expected, got: $(cat err.fails)"
    grep -qE '^([^ ]*/)?[a-z_-]+(\.(py|sh|torch|data|mk:[0-9]+))?: ' err.fails || die "$*: no program's name: $(cat err.fails)"
    [ -n "$words" ] && has_words err.fails "$words" || die "$*: '$words' expected, got: $(cat err.fails)"
    [ ! -s out.fails ] || die "$*: wrote to stdout"
}

# fails_unchanged STATUS WORDS COMMAND...: the same, and no file in the current folder changes
# fails_with STATUS MESSAGE COMMAND...: fails_unchanged, and the line is the program's name and exactly MESSAGE
# usage_error WORDS COMMAND...: fails_unchanged with status 2
fails_unchanged() {
    local before
    touch out.fails err.fails
    before=$(files_here)
    fails "$@"
    [ "$(files_here)" = "$before" ] || die "${*:3}: changed a file"
}
fails_with() {
    fails_unchanged "$@"
    expect_equal "$(sed 's/^[^:]*: //' err.fails)" "$2"
}
usage_error() { fails_unchanged 2 "$@"; }
files_here() {
    find . ! -name '*.fails' \( -type d -printf '%p %i\n' -o -printf '%p %i %s %l %T@\n' \) | sort
}
# mc_data_fails STATUS WORDS ARGUMENT...: fails_unchanged of mc-data with output old.mcz
mc_data_fails() { fails_unchanged "$1" "$2" mc-data "${@:3}" -o old.mcz; }

# expect_message LINES COMMAND...: expects the command to succeed and to print to stderr what expect_lines expects, or nothing
expect_message() {
    "${@:2}" >x.mcz 2>errors || die "${*:2}: status $?: $(cat errors)"
    expect_lines errors "$1"
}

# same FILE FILE: expects the same bytes in both files
same() {
    cmp "$1" "$2" || die "$1 and $2 differ"
}

# expect_equal ACTUAL EXPECTED: expects two equal texts
expect_equal() {
    [ "$1" = "$2" ] || die "'$2' expected, got '$1'"
}

# id FILE: prints the content id. If mc-info fails, prints a text that names FILE, so that it equals no id, and returns 1.
id() {
    local json id
    json=$(mc-info --json "$1") && id=$(sed -n 's/.*"id": *"\([0-9a-f]*\)".*/\1/p' <<<"$json") && [ -n "$id" ] || {
        echo "$1 has no content id"
        return 1
    }
    echo "$id"
}

# same_content FILE FILE: expects the same content id of both streams
same_content() {
    local x y
    x=$(id "$1") || die "$x"
    y=$(id "$2") || die "$y"
    [ "$x" = "$y" ] || die "$1 and $2 differ in content"
}

# different_content FILE FILE: expects different content ids
different_content() {
    local x y
    x=$(id "$1") || die "$x"
    y=$(id "$2") || die "$y"
    [ "$x" != "$y" ] || die "$1 and $2 have the same content"
}

# no_temporaries: expects no temporary files of programs in the current folder
no_temporaries() {
    local files
    files=$(find . -name '*mc*tmp*')
    [ -z "$files" ] || die "temporary files: $files"
}

# column FILE NAME: prints this column of a table, without the header; or, if there is none, a line that says so
column() {
    awk -F '\t' -v name="$2" '!c { for (i = 1; i <= NF; i++) if ($i == name) c = i
        if (!c) exit; next } { print $c } END { exit !c }' "$1" || {
        echo "$1 lacks $2"
        return 1
    }
}

# field LOG EVENT NAME: prints this field of every event of this kind
# strip_times LOG: prints the log without fields that depend on the clock
field() {
    sed -n "/\"event\":\"$2\"/s/.*\"$3\":\([^,}]*\).*/\1/p" "$1"
}
strip_times() {
    sed 's/,"images_per_second":[^}]*//' "$1"
}

# py [ARGUMENT...]: runs Python code from standard input, with json, os, sys, mcz and np imported
py() {
    /usr/bin/python3 -c 'import json, os, sys, mcz, numpy as np; exec(sys.stdin.read())' "$@"
}

# need_torch VERSION [MODULE...]: sets $python to $PYTHON, or to Debian's Python. Skips the test under valgrind, or if that Python
# lacks a MODULE or a PyTorch of this version or later. To import PyTorch takes seconds, so the answer is kept for other tests.
# skip REASON: ends the test; tests/run prints the reason
need_torch() {
    local answer lack
    python=${PYTHON:-/usr/bin/python3}
    [ "$MC_UNDER" != valgrind ] || skip 'PyTorch is not tested under valgrind'
    answer=$MC_FIXTURES/torch.$(cksum <<<"$python $*" | tr ' ' .)
    [ -e "$answer" ] || {
        lack=$($python - "$@" 2>/dev/null <<'END'
import importlib, re, sys
version, *modules = sys.argv[1:]
for name in "torch", *modules:
    try:
        found = importlib.import_module(name)
    except ImportError as e:
        sys.exit(print("%s is required (%s)" % ({"torch": "PyTorch " + version}.get(name, name), e)))
    if name == "torch" and [int(n) for n in re.findall("[0-9]+", found.__version__)[:2]] < [int(n) for n in version.split(".")]:
        sys.exit(print("PyTorch %s is required (got %s)" % (version, found.__version__)))
END
        ) || skip "$python cannot import torch"
        echo "$lack" >"$answer.$$" # other tests ask at the same time
        mv "$answer.$$" "$answer"
    }
    lack=$(<"$answer")
    [ -z "$lack" ] || skip "$lack"
}
skip() {
    echo "$1"
    exit 77
}

# svg_texts PICTURE: prints the texts of an SVG picture by mc-plot, one per line: matplotlib draws them as paths, with comments
svg_texts() {
    sed -n 's/.*<!-- \(.*\) -->.*/\1/p' "$1" | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
}

# same_scale axes|colours PICTURE PICTURE...: expects the same numbers on the vertical axes, or on the colour bars, of all pictures
same_scale() {
    py "$@" <<'END'
import re, xml.etree.ElementTree as E
def scales(name, nested):
    """The numbers of each vertical axis: those of panels, or of colour bars, which are nested in panels."""
    root = E.parse(name, E.XMLParser(target=E.TreeBuilder(insert_comments=True))).getroot()
    axes = [e for e in root.iter() if e.get("id", "").startswith("axes_")]
    inner = [e for a in axes for e in a.iter() if e in axes and e is not a]
    vertical = [g for a in axes if (a in inner) == nested for g in a if re.fullmatch(r"matplotlib.axis_[0-9]*[02468]", g.get("id", ""))]
    return [[c.text for c in g.iter(E.Comment) if re.search("[0-9]", c.text)] for g in vertical]
kind, *names = sys.argv[1:]
found = [scales(name, kind == "colours") for name in names]
assert len(found) > 1 and len(found[0]) == 2 and min(map(len, found[0])) > 2 and found == found[:1] * len(found), found
END
}

# require_emulation: uses the emulated device, or skips the test
require_emulation() {
    export MC_CUDA_LIBRARY=$MC_BUILD/tests/emulation/libmc-cuda.so
    [ -e "$MC_CUDA_LIBRARY" ] && [ -z "$MC_UNDER" ] || exit 77
}

# kill_when CONDITION COMMAND...: kills the command as soon as CONDITION is true. If the command ends before that, retries.
# The command writes a checkpoint ck, log.json and out.*. It must put $launcher before its program: without exec, the signal
# kills only the shell.
launcher=
kill_when() {
    local i pid rc
    for _ in {1..10}; do
        rm -f ck log.json out.*
        launcher='exec'
        "${@:2}" &
        pid=$! launcher= rc=0
        for ((i = 0; i < 6000; i++)); do
            ! eval "$1" || break
            sleep .01
        done
        kill -9 $pid || true
        wait $pid || rc=$?
        [ $rc != 137 ] || return 0
        [ $rc = 0 ] || die "exit status $rc before it was killed"
    done
    die 'ended before it could be killed'
} 2>/dev/null

# stub_plot: sets $bin to a folder with all programs and a stub of mc-plot, for experiments whose pictures the test does not read. An
# experiment draws each picture as SVG and as PNG, and to start matplotlib takes longer than most jobs of a small experiment.
stub_plot() {
    [ -e "$MC_FIXTURES/bin" ] || make_fixture bin
    bin=$MC_FIXTURES/bin
}

# graph NAME SETTING...: runs the experiment NAME.mk in a short form; stdout is in log, stderr in errors. The programs are those in
# $bin. Without $bin, mc-plot is a stub: `bin=$MC_BUILD/bin graph connect` draws pictures.
graph() {
    local defaults=(DATA=synth NET=mlp:bn,16) graph=$1.mk
    [ "$1" != paper ] || defaults=(DATA_SETS=synth NETS=mlp PAIRS=1:2) graph=paper/paper.mk
    [ -n "${bin:-}" ] || stub_plot
    $launcher make V=1 -f "$MC_ROOT/pipelines/$graph" BIN="$bin" "${defaults[@]}" TRAIN_IMAGES=512 TEST_IMAGES=100 \
        LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1 OUT=out "${@:2}" >log 2>errors || die "$(cat log errors)"
}

# expect_programs PROGRAMS NAME SETTING...: runs this experiment, and expects it to start PROGRAMS (as count_programs prints them)
expect_programs() {
    graph "${@:2}"
    expect_equal "$(count_programs)" "$1"
}

# kill_graph PATTERN NAME SETTING... OUT=FOLDER: runs this experiment, and kills it and its jobs when it has written a
# checkpoint of this name. If the training ends between two checks, removes the trained file and retries.
kill_graph() {
    local i out=${*: -1}
    out=${out#OUT=}
    (
        launcher='exec setsid'
        for _ in {1..10}; do
            touch "$TMP/started"
            graph "${@:2}" &
            for ((i = 0; i < 6000; i++)); do
                [ -z "$(find "$out" -name "$1" -newer "$TMP/started")" ] && kill -0 $! || break
                sleep .02
            done
            ! kill -9 -- -$! || { wait $! || exit 0; }
            find "$out" -name "${1%checkpoint}" -delete
        done
        die 'ended before it was killed'
    ) 2>/dev/null
}

# count_programs: prints the programs that the last experiment started, each followed by the number of its runs
count_programs() {
    { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'
}

# make_recorder: writes ./record, a command for RUN. It appends a job's command line to `recorded` and creates empty outputs.
make_recorder() {
    cat >record <<'END'
#!/bin/bash
echo "$*" >>recorded
for ((i = 1; i < $#; i++)); do
    case ${!i} in -o | --summary | --losses | --marks | --log-json) j=$((i + 1)) && : >"${!j}" ;; esac
done
END
    chmod +x record
}

# tables KIND FILE...: runs pipelines/tables/tables with these arguments
tables() { "$MC_ROOT/pipelines/tables/tables" "$@"; }

# make_fixture NAME: runs make_NAME in the folder $MC_FIXTURES/NAME, once per run of tests/run
make_fixture() {
    (
        flock 9
        [ -e "$MC_FIXTURES/$1" ] || {
            rm -rf "$MC_FIXTURES/part-$1"
            mkdir "$MC_FIXTURES/part-$1"
            cd "$MC_FIXTURES/part-$1"
            "make_$1"
            mv "$MC_FIXTURES/part-$1" "$MC_FIXTURES/$1"
        }
    ) 9>>"$MC_FIXTURES/$1.lock"
}

# fixture NAME...: copies the files that make_NAME writes
fixture() {
    local name
    for name; do
        make_fixture "$name"
        cp -a "$MC_FIXTURES/$name/." .
    done
}

# agree BOUND FILE FILE: expects the entries of two streams of matrices to differ by at most BOUND
agree() {
    py "$@" <<'END'
bound, x, y = float(sys.argv[1]), mcz.read(sys.argv[2]), mcz.read(sys.argv[3])
worst = max(np.abs(x.tensors[k] - y.tensors[k]).max() for k in x.tensors)
assert x.meta == y.meta and worst <= bound, worst
END
}

# check_recovery PLANTED FOUND MATRICES...: runs lib/recovery_check.py
check_recovery() {
    /usr/bin/python3 "$MC_ROOT/tests/cli/lib/recovery_check.py" "$@"
}

# expect_computed_with FILE PROGRAM PATTERN: expects the facts from `device=` on, in the program's last history entry, to
# match PATTERN completely
expect_computed_with() {
    local entry
    entry=$(mc-info "$1" | sed -nE "s/^ *[0-9]+  $2 .* (device=.*)/\1/; T; s/  from .*//; p" | tail -n 1)
    [[ $entry =~ ^$3$ ]] || die "$1: '$3' expected, got: $(mc-info "$1")"
}
onednn='onednn=[0-9.]+' table='algorithms=[0-9a-f]{8}'

# run_every_program OPTION...: runs, with these options, all programs that compute. Their streams are in out.
run_every_program() {
    local options=(-q --data d.mcz "$@") s
    rm -rf out && mkdir out
    for s in 1 2; do mc-train "${options[@]}" --net mlp:bn,8 --batch 16 --epochs 1 --lr .01 --seed $s -o out/n$s.mcz; done
    mc-bezier "${options[@]}" --batch 16 --epochs 1 --lr .01 out/n1.mcz out/n2.mcz -o out/curve.mcz
    mc-bezier -q "$@" --point .5 --bn-data d.mcz --bn-samples 64 out/curve.mcz -o out/point.mcz
    mc-repair "${options[@]}" --samples 64 out/n1.mcz -o out/statistics.mcz
    mc-repair "${options[@]}" --samples 64 out/n1.mcz --ends out/n1.mcz out/n2.mcz -o out/repaired.mcz
    mc-pam "${options[@]}" --batch 16 --permutation-epochs 1 --epochs 1 --lr .01 out/n1.mcz out/n2.mcz -o out/pam.mcz
    mc-pgd "${options[@]}" --eps 4/255 --steps 1 out/n1.mcz -o out/pgd.mcz
    mc-acts "${options[@]}" --samples 64 out/n1.mcz out/n2.mcz -o out/moments.mcz
    mc-acts "${options[@]}" --samples 64 --raw out/n1.mcz -o out/raw.mcz
}
# expect_all_computed_with PATTERN: expect_computed_with for all streams of run_every_program
expect_all_computed_with() {
    expect_computed_with out/n1.mcz mc-train "$1"
    for s in curve point; do expect_computed_with out/$s.mcz mc-bezier "$1"; done
    for s in statistics repaired; do expect_computed_with out/$s.mcz mc-repair "$1"; done
    expect_computed_with out/pam.mcz mc-pam "$1"
    expect_computed_with out/pgd.mcz mc-pgd "$1"
    for s in moments raw; do expect_computed_with out/$s.mcz mc-acts "$1"; done
}
