# SPDX-License-Identifier: Apache-2.0
# Programs never write binary data to a terminal or read from one: they exit at once. Skipped without a terminal, as in a
# chroot without /dev/pts.
set -eu
script -qec true /dev/null </dev/null >/dev/null 2>&1 || exit 77
on_terminal() { # COMMAND-LINE: must exit with 2 and one short line of text
    local rc=0
    # script gives the command a terminal for all three streams
    timeout 60 script -qec "$1" /dev/null </dev/null >shown 2>&1 || rc=$?
    [ "$rc" = 2 ] || { echo "'$1' on a terminal exits with $rc"; cat -v shown; exit 1; }
    [ "$(wc -l <shown)" -ge 1 ] && [ "$(wc -c <shown)" -lt 2000 ] || { echo "'$1' prints $(wc -c <shown) bytes"; exit 1; }
    sed -i 's/\x1b\[K//g' shown # bytes of a progress line
    if LC_ALL=C grep -q '[^[:print:][:space:]]' shown; then echo "'$1' prints binary"; exit 1; fi
}

printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t1\t50\n' >table.tsv
for program in "$MC_BUILD"/bin/mc-*; do
    case ${program##*/} in
    mc-plot) on_terminal "mc-plot path -o x.svg" ;;
    mc-info) on_terminal "mc-info" ;;
    mc-corr) on_terminal "mc-corr -o x.mcz" ;;
    mc-hungarian | mc-procrustes) on_terminal "${program##*/} -o x.mcz" ;;
    mc-eval) on_terminal "mc-eval --data table.tsv -" ;;
    esac
done
[ ! -e x.svg ] && [ ! -e x.mcz ] || die "wrote an output"

on_terminal "mc-plot path --format png table.tsv"
on_terminal "mc-data synth --split train --samples 64"
mc-data synth --split train --samples 64 -o data.mcz
on_terminal "mc-train --net mlp:8 --data data.mcz --epochs 1"
for seed in 1 2; do
    mc-train -q --net mlp:8 --data data.mcz --epochs 1 --batch 32 --seed $seed -o $seed.mcz
done
on_terminal "mc-bezier --epochs 0 1.mcz 2.mcz"
on_terminal "mc-acts --data data.mcz 1.mcz 2.mcz"
on_terminal "mc-pgd --data data.mcz 1.mcz"
on_terminal "mc-pgd --data data.mcz -o x.mcz"
grep -q 'missing: operand WEIGHTS.mcz' shown
mc-acts -q --data data.mcz 1.mcz 2.mcz -o m.mcz
on_terminal "mc-corr m.mcz"
mc-corr -q m.mcz -o c.mcz
on_terminal "mc-hungarian c.mcz"
on_terminal "mc-permute --random 1 1.mcz"
on_terminal "mc-permute - 1.mcz -o x.mcz"
