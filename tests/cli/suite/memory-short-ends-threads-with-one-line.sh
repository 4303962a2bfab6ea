# SPDX-License-Identifier: Apache-2.0
# If address space runs out in a thread of a library, the program ends with status 1 and one line, not by abort().
[ -z "$MC_UNDER" ] || exit 77 # sanitizers need their own memory
mc-data synth -q --samples 200 --size 16 -o d.mcz
for seed in 1 2; do mc-train -q -t 1 --net resnet:8,4 --data d.mcz --epochs 0 --seed $seed -o $seed.mcz; done
ended=
for limit in {64000..112000..4000} 4000000; do
    rc=0
    (
        ulimit -v $limit
        exec mc-eval -q -t 3 --device cpu --data d.mcz 1.mcz 2.mcz
    ) >out 2>err || rc=$?
    [ $rc -le 1 ] || die "ulimit -v $limit: status $rc: $(<err)"
    grep -q libgomp err || [ "$(wc -l <err)" = $rc ] || die "ulimit -v $limit: $(<err)"
    ended+=" $rc"
done
[[ $ended == *1* && $ended == *0* ]] || die "statuses$ended"
