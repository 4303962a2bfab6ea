# SPDX-License-Identifier: Apache-2.0
# OpenMP's idle threads sleep after a short spin, unless the user's environment sets how long they spin. The history
# does not contain this setting.
unset OMP_WAIT_POLICY GOMP_SPINCOUNT

# spins SETTING... PROGRAM: prints how often an idle thread of this program looks for work before it sleeps
spins() { env OMP_DISPLAY_ENV=verbose "$@" --version 2>&1 | sed -n "s/.*GOMP_SPINCOUNT = '\(.*\)'/\1/p"; }
computing=0
for p in "$MC_BUILD"/bin/mc-*; do
    p=${p##*/}
    grep -q -- --threads <("$p" --help) || continue
    expect_equal "$p $(spins "$p")" "$p 3000"
    computing=$((computing + 1))
done
[ $computing -ge 8 ] || die "only $computing programs have --threads"
expect_equal "$(spins GOMP_SPINCOUNT=7 mc-train)" 7
[ "$(spins OMP_WAIT_POLICY=active mc-train)" -gt 1000000 ] || die 'OMP_WAIT_POLICY=active had no effect'
expect_equal "$(spins OMP_WAIT_POLICY=passive mc-train)" 0

# the same history
mc-data synth --samples 40 --no-history -o d.mcz
for policy in unset active passive; do
    [ $policy = unset ] || export OMP_WAIT_POLICY=$policy
    mc-train -q --net mlp:8 --data d.mcz --no-augment --batch 8 --epochs 1 -t 2 -o n.mcz
    mc-info n.mcz >$policy.txt
done
same unset.txt active.txt
same unset.txt passive.txt
