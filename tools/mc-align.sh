#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The program mc-align of a build or an installation: it only runs the other programs, which are in its folder.
set -euo pipefail
# the same environment as that of the experiments' scripts
export LC_ALL=C.UTF-8
unset CDPATH POSIXLY_CORRECT
PATH=$(dirname "$(readlink -f "$0")"):$PATH

help="Align one network to another: reorder its units, or write the repaired mean.

Examples:
  mc-align --data train.mcz a.mcz b.mcz -o b-aligned.mcz
  mc-align --data train.mcz --merge a.mcz b.mcz -o mean.mcz
  mc-align --data train.mcz --plot line.svg a.mcz b.mcz -o b-aligned.mcz
  mc-align --groups gpt.tsv a.safetensors b.safetensors -o b-aligned.safetensors
  mc-align --data train.mcz --keep streams a.mcz b.mcz -o b-aligned.mcz

Usage: mc-align [OPTION...] A.mcz B.mcz
  or:  mc-align [OPTION...] --groups=GROUPS.tsv A.safetensors B.safetensors

Options:

  -d, --data=FILE.mcz        match units by their activations on this data set
                             (mc-acts, mc-corr, mc-hungarian); without it by
                             the weights (mc-match)
      --samples=N            use the first N images of the data set (default:
                             its first 20%)
      --at=post|pre          use activations after the ReLU (post) or before it
                             (pre) (default post)
      --measure=correlation|l2|moment
                             similarity of two units (default correlation)
      --assign=COMMAND       command that reads matrices from standard input
                             and writes a permutation (default mc-hungarian)
      --groups=FILE.tsv      A and B are safetensors or npz files of a network
                             without a graph, which has these permutation
                             groups; they are matched by the weights
      --merge                write the mean of A and the aligned B, repaired on
                             the data set (mc-merge, mc-repair)
      --plot=FILE.svg        draw the straight line from A to B, before and
                             after the alignment, on the data set
      --keep=DIR             keep all streams and tables in this folder
  -o, --output=FILE          write to FILE instead of standard output
  -t, --threads=N            threads (default: all cores; OMP_NUM_THREADS is
                             ignored)
      --device=auto|cpu|cuda[:N]
                             device to compute on (default auto)
  -q, --quiet                print only errors and warnings
  -v, --verbose              print more detail
  -h, --help                 print this help and exit
      --version              print the version and exit

Runs the programs in parentheses, and mc-permute. If one of them fails,
mc-align has its exit status and writes no output. With --groups, the output is
safetensors or npz if its name says so, and the mean is not repaired.

--keep writes moments.mcz, matrices.mcz, permutation.mcz and aligned.mcz; with
--groups a.mcz and b.mcz; with --merge mean.mcz; with --plot before.tsv and
after.tsv. To replace another stage, run the programs in a pipe.

Exit status: 0 success, 1 failure, 2 usage error, 3 input damaged or of the
wrong kind."

fail() { # STATUS TEXT
    echo "mc-align: $2" >&2
    exit "$1"
}
usage_error() { fail 2 "$1 (see --help)"; }
show() { printf '%s\n' "$1" 2>/dev/null || fail 1 'cannot write to standard output'; }

long=data:,samples:,at:,measure:,assign:,groups:,merge,plot:,keep:,output:,threads:,device:,quiet,verbose,help,version
words=$(getopt -n mc-align -o d:o:t:qvh -l "$long" -- "$@" 2>&1) ||
    usage_error "$(sed -E "1!d; s/^mc-align: //; s/option requires an argument -- '(.)'/option '-\1' requires a value/; s/(unrecognized|invalid) option( --)?/unknown option/; s/unknown option '([^-])/unknown option '-\1/
        s/option -- '(.*)'/option '-\1'/; s/doesn't allow an argument/does not accept a value/; s/requires an argument/requires a value/" <<<"$words")"
eval "set -- $words"
data='' assign=mc-hungarian groups='' merge='' plot='' keep='' out=- acts=() measure=() compute=() device=() messages=()
while [ "$1" != -- ]; do
    case $1 in
    -d | --data) data=$2 ;;
    --samples | --at) acts+=("$1=$2") ;;
    --measure) measure=("$1=$2") ;;
    --assign) assign=$2 ;;
    --groups) groups=$2 ;;
    --merge) merge=yes ;;
    --plot) plot=$2 ;;
    --keep) keep=$2 ;;
    -o | --output) out=$2 ;;
    -t | --threads) compute=("--threads=$2") ;;
    --device) device=("--device=$2") ;;
    -q | --quiet | -v | --verbose) messages=("$1") ;;
    -h | --help) show "$help" && exit ;;
    --version) show "$(mc-acts --version | sed '1s/mc-acts/mc-align/')" && exit ;;
    esac
    case $1 in --merge | -q | --quiet | -v | --verbose) shift ;; *) shift 2 ;; esac
done
shift
[ $# -le 2 ] || usage_error "unexpected argument '$3'"
[ $# = 2 ] || usage_error "missing: operands A.mcz and B.mcz"
a=$1 b=$2
for file in "$a" "$b" "$data"; do [ "$file" != - ] || usage_error 'inputs must be files, because they are read several times'; done
[ -z "$data" ] || [ -z "$groups" ] || usage_error '--data and --groups exclude each other: a network without a graph cannot be run'
[ -z "$plot" ] || [ "$data" ] || usage_error '--plot requires --data'
[ -z "$merge" ] || [ "$data$groups" ] || usage_error '--merge requires --data, on which the mean is repaired'
[ "$data" ] || [ "${#acts[@]}${#measure[@]}-$assign" = 00-mc-hungarian ] ||
    usage_error '--samples, --at, --measure and --assign require --data'

streams=(a b moments matrices permutation aligned mean)
declare -A files=([A.mcz]=$a [B.mcz]=$b [--data]=$data [--groups]=$groups [--plot]=$plot [--output]=${out#-})
for s in "${streams[@]}"; do [ -z "$keep" ] || files[--keep $s.mcz]=$keep/$s.mcz; done
for output in "${!files[@]}"; do
    [[ $output = --@(plot|output|keep*) ]] || continue
    name=${files[$output]}
    [ ! -c "$name" ] || continue # /dev/null
    for other in "${!files[@]}"; do
        [ "$other" = "$output" ] || [ -z "$name" ] || [ -z "${files[$other]}" ] || [ "$(realpath -m -- "$name")" != "$(realpath -m -- "${files[$other]}")" ] ||
            usage_error "$output and $other are the same file '$name'"
    done
done
[[ $plot = '' || $plot = *.@(svg|png|pdf) ]] || usage_error "--plot: '$plot' must end in .svg, .png or .pdf"
[ "$groups" ] || [[ $out != *.@(npz|safetensors|pt|pth|pkl) ]] || usage_error "--output: '$out' must be a stream (use .mcz; with --groups, .safetensors or .npz)"
for file in "$plot" "${out#-}"; do
    [ -z "$file" ] || [ -d "$(dirname -- "$file")" ] || fail 1 "cannot write '$file': No such file or directory"
done
[[ $a != -* ]] || a=./$a
[[ $b != -* ]] || b=./$b
[ -z "$keep" ] || mkdir -p -- "$keep" || exit 1
work=$(mktemp -d)
child=
stop() { # STATUS
    [ -z "$child" ] || kill "$child" 2>/dev/null || :
    exit "$1"
}
trap 'rm -rf "$work"' EXIT
trap 'stop 130' INT
trap 'stop 143' TERM
# a program in the background, so that a signal does not wait for it; its last line would name a file in $work
run() {
    "$@" <&0 &
    child=$!
    wait "$child"
}
[ "${messages[*]-}" ] || messages=(--quiet)
if [ "$groups" ]; then
    run mc-convert "${messages[@]}" --groups "$groups" -o "$work/a.mcz" "$a"
    run mc-convert "${messages[@]}" --groups "$groups" -o "$work/b.mcz" "$b"
    a=$work/a.mcz b=$work/b.mcz
fi
if [ "$data" ]; then
    run mc-acts "${messages[@]}" "${compute[@]}" "${device[@]}" "${acts[@]}" --data "$data" -o "$work/moments.mcz" "$a" "$b"
    run mc-corr "${messages[@]}" "${measure[@]}" "$work/moments.mcz" -o "$work/matrices.mcz"
    run bash -c "$assign" <"$work/matrices.mcz" >"$work/permutation.mcz"
else
    run mc-match "${messages[@]}" "${compute[@]}" -o "$work/permutation.mcz" "$a" "$b"
fi
permute() { run mc-permute "${messages[@]}" -o "$1" "$work/permutation.mcz" "$b"; }
line() { # B TABLE
    run mc-eval "${messages[@]}" "${compute[@]}" "${device[@]}" --line --points 21 --data "$data" --bn-data "$data" -o "$2" "$a" "$1"
}
result=$work/aligned.mcz foreign=
[[ $groups = '' || $out != *.@(safetensors|npz) ]] || foreign=yes
[ -z "$plot$merge$keep$foreign" ] || permute "$work/aligned.mcz"
if [ "$plot" ]; then
    line "$b" "$work/before.tsv"
    line "$work/aligned.mcz" "$work/after.tsv"
    (cd -- "$work" && mc-plot path -o "line.${plot##*.}" before=before.tsv after=after.tsv)
fi
merge() { run mc-merge "${messages[@]}" -o "$1" "$a" "$work/aligned.mcz"; }
if [ "$merge" ]; then
    result=$work/mean.mcz
    [ -z "$data$keep$foreign" ] || merge "$result"
fi
# the last program writes the output, so that it is complete or missing; then the rest is moved
if [ "$foreign" ]; then
    run mc-convert "${messages[@]}" -o "$out" "$result"
elif [ "$merge" ] && [ "$data" ]; then
    run mc-repair "${messages[@]}" "${compute[@]}" "${device[@]}" --data "$data" -o "$out" "$result" --ends "$a" "$work/aligned.mcz"
elif [ "$merge" ]; then
    merge "$out"
else
    permute "$out"
fi
[ -z "$plot" ] || mv -- "$work/line.${plot##*.}" "$plot"
for file in "${streams[@]/%/.mcz}" before.tsv after.tsv; do
    [ -z "$keep" ] || [ ! -e "$work/$file" ] || mv -- "$work/$file" "$keep/"
done
