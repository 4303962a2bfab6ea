# SPDX-License-Identifier: Apache-2.0
# The history of each program that computes names what decides the bits beside options and inputs: device, threads,
# instruction set, libraries, table of algorithms. The content id does not hold it.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 64 --size 8 -o d.mcz
# has FILE PROGRAM PATTERN: that program's last run there was computed with what matches, and with nothing else
has() {
    local entry
    entry=$(mc-info "$1" | sed -nE "s/^ *[0-9]+  $2 .* (device=.*)/\1/; T; s/  from .*//; p" | tail -n 1)
    [[ $entry =~ ^$3$ ]] || die "$1: not '$3' in: $(mc-info "$1")"
}

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

# all_have PATTERN
all_have() {
    has out/n1.mcz mc-train "$1"
    for s in curve point; do has out/$s.mcz mc-bezier "$1"; done
    has out/pam.mcz mc-pam "$1"
    has out/pgd.mcz mc-pgd "$1"
    for s in moments raw; do has out/$s.mcz mc-acts "$1"; done
}

version='onednn=[0-9.]+'
table='algorithms=[0-9a-f]{8}'
isa=$(mc-train -v --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu -o one.mcz 2>&1 | sed -n 's/.*cpu, \([a-z0-9]*\) kernels.*/\1/p')
every --device cpu -t 1
all_have "device=cpu threads=1 isa=$isa $version onednn-isa=[a-z0-9_]+ $table"
mc-corr -q --device cpu -t 1 out/raw.mcz out/raw.mcz -o out/matrices.mcz
has out/matrices.mcz mc-corr "device=cpu threads=1 isa=$isa $version onednn-isa=[a-z0-9_]+ $table"

# so many threads as really work, and the instruction set that is really used
OMP_THREAD_LIMIT=1 mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 2 --device cpu -o few.mcz
has few.mcz mc-train "device=cpu threads=1 isa=$isa .*"
same one.mcz few.mcz
ONEDNN_MAX_CPU_ISA=SSE41 MC_ISA=portable mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu -o portable.mcz
has portable.mcz mc-train "device=cpu threads=1 isa=portable $version onednn-isa=[a-z0-9_]+ $table"

# nothing was computed, or the history is not wanted
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o new.mcz
mc-bezier -q --epochs 0 out/n1.mcz out/n2.mcz -o line.mcz
! mc-info new.mcz | grep device= || die 'nothing was trained'
mc-corr -q out/moments.mcz -o matrices.mcz
! mc-info matrices.mcz | grep 'mc-corr .*device=' || die 'no moments were counted'
! mc-info line.mcz | grep 'mc-bezier .*device=' || die 'no curve was trained'
mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu --no-history -o bare.mcz
! mc-info bare.mcz | grep device= || die 'a history'
[ "$(id bare.mcz)" = "$(id one.mcz)" ]

export MC_CUDA_LIBRARY=$MC_BUILD/tests/emulation/libmc-cuda.so
[ -e "$MC_CUDA_LIBRARY" ] && [ -z "$MC_UNDER" ] || exit 0
cuda="device=cuda isa=sm_[0-9]+ multiprocessors=[0-9]+ cuda=[0-9]+ cublas=[0-9]+ cudnn=[0-9]+ $table"
every --device cuda
all_have "$cuda"
every --device cuda --precision bf16 --deterministic no
all_have "$cuda precision=bf16 deterministic=no"
