# SPDX-License-Identifier: Apache-2.0
# mc-train, killed within an epoch or stopped, resumes to the same bytes and a log of all epochs.
fixture resumed
train() { $launcher mc-train -q --net $net --data d.mcz --epochs 4 --seed 5 -t 2 "$@"; }

kill_when '[ -e ck ]' train --checkpoint ck --log-json log.json -o out.mcz
train --checkpoint ck --resume --log-json log.json -o out.mcz
same whole.mcz out.mcz
same <(strip_times whole.json) <(strip_times log.json)
train --checkpoint half.ck --resume -o out2.mcz
same whole.mcz out2.mcz
[ "$(find . -name '.out.mcz*' | wc -l)" -le 1 ] # a killed run may leave one
