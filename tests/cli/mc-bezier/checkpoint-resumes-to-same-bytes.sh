# SPDX-License-Identifier: Apache-2.0
# mc-bezier, killed within an epoch and resumed, writes the same bytes; a checkpoint of other settings is refused.
fixture curves
run() { $launcher mc-bezier -q --data d.mcz --epochs 4 --lr 0.05 --schedule onecycle -t 2 n1.mcz n2.mcz "$@"; }

kill_when '[ -e ck ]' run --checkpoint ck -o out.mcz
run --checkpoint ck --resume -o out.mcz
same curve.mcz out.mcz
fails 3 'points' run --control-points 2 --checkpoint ck --resume
[ "$(find . -name '.out.mcz*' | wc -l)" -le 1 ] # a killed run may leave one
