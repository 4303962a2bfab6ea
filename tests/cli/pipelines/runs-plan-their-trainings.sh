# SPDX-License-Identifier: Apache-2.0
# pipelines/paper/published/runs.sh plans as many trainings as each run wants, in a SCRATCH whose ends have curves of another length, and
# refuses other runs.
runs=$MC_ROOT/pipelines/paper/published/runs.sh
mkdir -p scratch/programs/build scratch/published/1-2 scratch/tinyten-cifar100-fifth/1-2 c10 c100
touch scratch/programs/commit
ln -s "$MC_ROOT/pipelines" scratch/programs/pipelines
ln -s "$MC_BUILD/bin" scratch/programs/build/bin
for curve in scratch/{published,tinyten-cifar100-fifth}/1-2/curve-{un,}aligned.mcz; do
    touch $curve
    echo '50 epochs lr 0.1 batch 128 step seed 1 1 threads auto' >$curve.settings
done
# planned RUN PROGRAM WORDS: how many of its commands have these
planned() {
    MAKEFLAGS=n "$runs" scratch c10 c100 "$1" >out 2>&1 || die "$1: $(tail -n 3 out)"
    grep -cE -- "^$2 .*$3" out
}
is "$(planned grid mc-bezier '--epochs 5 ')" 54
is "$(planned measures mc-bezier '--epochs 25 ')" 18
is "$(planned robust mc-train '--epochs 10 ')" 6
is "$(planned resnet32 mc-train '--epochs 25 ')" 6
is "$(planned bound mc-train '--epochs 20 ')" 6
is "$(planned lines mc-train '--epochs 2 ')" 12
fails 2 "there is no run 'nosuch' (there are: pam ends" "$runs" scratch c10 c100 nosuch
fails 2 'a folder without blanks is wanted' "$runs" 'my scratch' c10 c100
"$runs" -h | grep -q 'runs.sh SCRATCH' || die 'no help'
for wrong in all 'pam ends' '' -n; do
    rc=0
    "$runs" scratch c10 c100 "$wrong" >out 2>&1 || rc=$?
    is $rc 2
done
