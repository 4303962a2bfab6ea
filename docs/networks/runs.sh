#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The trainings whose results belong to the paper's tables, in the order of what they are worth:
#
#   docs/networks/runs.sh SCRATCH CIFAR10_DIR CIFAR100_DIR
#
# Two jobs at a time of one thread each, at low priority. Days on two cores: interrupt it whenever you like, the same
# command goes on from the last epoch. All of it goes on with the programs that it was begun with, which lie in
# SCRATCH/programs, whatever becomes of this tree. Networks that docs/networks/ has are taken from there.
set -eu
export ONEDNN_MAX_CPU_ISA=AVX512_CORE # checkpoints hold it: processors with and without AMX resume each other's runs
if [ $# != 3 ]; then
    sed -n '/^# The trainings/,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1 cifar10=$2 cifar100=$3

if [ ! -e "$scratch/programs/commit" ]; then
    mkdir -p "$scratch/programs/build"
    cp -r "$here/../../pipelines" "$scratch/programs"
    cp -r "$here"/../../build/{bin,share} "$scratch/programs/build"
    git -C "$here" rev-parse HEAD >"$scratch/programs/commit"
fi

# graph NAME FOLDER SETTING...: a make graph with its results in SCRATCH/FOLDER, on the three pairs
graph() {
    local name=$1 out=$scratch/$2
    shift 2
    nice -n 19 make -k -j2 -f "$scratch/programs/pipelines/$name.mk" THREADS=1 PAIRS='1:2 3:4 5:6' OUT="$out" "$@" || failed=1
}
failed=0
on10=(DATA=cifar10 DATA_DIR="$cifar10")
on100=(DATA=cifar100 DATA_DIR="$cifar100")
at_length=("${on10[@]}" NET=tinyten EPOCHS=250)
tinyten=$scratch/tinyten-cifar10

# networks that are there, newer than the data that make would train them from
graph connect tinyten-cifar10 "${at_length[@]}" "$tinyten/train.mcz"
for net in "$here"/tinyten-cifar10/net-?.mcz; do
    name=${net##*/}
    [ ! -e "$tinyten/$name" ] || continue
    cp "${net%.mcz}.log.json" "$tinyten"
    echo 'tinyten 250 epochs lr 0.1 batch 128 step 1 threads auto' >"$tinyten/$name.settings"
    cp "$net" "$tinyten/$name"
done
# the ends, then the curves, then those of proximal alternating minimisation, with its defaults and as the paper has it
graph connect tinyten-cifar10 "${at_length[@]}" "$tinyten"/net-{1,2,3,4,5,6}.mcz
graph connect tinyten-cifar10 "${at_length[@]}"
graph pam tinyten-cifar10 "${at_length[@]}"
if [ ! -e "$tinyten-as-paper" ]; then
    cp -a "$tinyten" "$tinyten-as-paper.part"
    mv "$tinyten-as-paper.part" "$tinyten-as-paper"
fi
graph pam tinyten-cifar10-as-paper "${at_length[@]}" PAM_FLAGS=--as-paper
# a tenth of robust networks, a tenth of resnet32, a fifth of the other data: rates fall as many times in as many fewer epochs
graph robust robust-tinyten-cifar100 "${on100[@]}" NET=tinyten EPOCHS=20
graph connect resnet32-cifar10-tenth "${on10[@]}" NET=resnet32 EPOCHS=25 SCHEDULE=step:2
graph connect tinyten-cifar100-fifth "${on100[@]}" NET=tinyten EPOCHS=50 SCHEDULE=step:4
exit $failed
