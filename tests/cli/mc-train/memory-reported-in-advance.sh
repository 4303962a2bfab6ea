# SPDX-License-Identifier: Apache-2.0
# mc-train -v reports the memory of a run before it reads the images.
fixture curves

head -c -7 d.mcz >cut.mcz
! mc-train -v --net tinyten --data cut.mcz --batch 100 --checkpoint ck --epochs 1 -o no.mcz 2>err || die 'it passed'
grep -q 'memory: 768 images of synth 0.6 MB, .* scratch [1-9][0-9.]* MB, 6 vectors of .* 2.1 MB$' err || die "$(cat err)"

[ -z "$MC_UNDER" ] || exit 0 # sanitizers need their own memory
ulimit -v 1000000
fails_unchanged 1 "--batch 60000: out of memory: " \
    mc-train -q -t 1 --net tinyten --data d.mcz --batch 60000 --epochs 1 -o d.mcz.w
