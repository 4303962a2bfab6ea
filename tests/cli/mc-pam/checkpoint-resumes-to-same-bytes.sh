# SPDX-License-Identifier: Apache-2.0
# mc-pam, killed in a permutation step or a curve step and resumed, writes the same bytes and the same log.
fixture pam
many=16384 kills='1 3 5'
# tests/run runs later command lines with the same options outside valgrind, where they would end before the kill
[ "$MC_UNDER" != valgrind ] || many=1024 kills=1
mc-data synth --samples $many --size 8 --seed 3 -o many.mcz
long_run() { pam --data many.mcz --outer 2 --permutation-epochs 2 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz "$@"; }
long_run --log-json whole.json -o whole.mcz
long_run | same whole.mcz -
resumed() {
    long_run --checkpoint ck --resume --log-json log.json -o out.mcz
    same whole.mcz out.mcz
    same <(strip_times whole.json) <(strip_times log.json)
}

expect_equal "$(field whole.json iteration outer | paste -sd ' ')" '1 2'
# runs mc-info directly: under valgrind it is too slow
epoch() { [ -e ck ] && "$MC_BUILD"/bin/mc-info --json ck | sed -n 's/.*"epoch": *\([0-9]*\).*/\1/p' || echo 0; }
for epochs in $kills; do
    kill_when "[ \"\$(epoch)\" -ge $epochs ]" long_run --checkpoint ck --log-json log.json -o out.mcz
    resumed
done
# at every epoch's end too
for epochs in 2 4 7; do
    rm -f ck log.json
    long_run --checkpoint ck --stop-after $epochs -o part.mcz
    resumed
done
