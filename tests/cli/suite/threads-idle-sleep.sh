# SPDX-License-Identifier: Apache-2.0
# OpenMP's idle threads sleep after a short spin, unless the user's environment sets how long they spin. Child processes
# and the history do not see this setting.
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

# the environment of child processes
mkdir bin
printf '#!/bin/sh\nenv | grep -E "^(PATH|G?OMP_.*)=" | sort >"$STARTED"\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t1\t50\n' >path.tsv
export PATH=$PWD/bin:$PATH STARTED=$PWD/started
! mc-plot path path.tsv -o path.svg 2>errors || die 'the gnuplot that fails was not started'
expect_equal "$(grep -v OMP_THREAD_LIMIT started)" "PATH=$PATH"

# the same history
mc-data synth --samples 40 --no-history -o d.mcz
for policy in unset active passive; do
    [ $policy = unset ] || export OMP_WAIT_POLICY=$policy
    mc-train -q --net mlp:8 --data d.mcz --no-augment --batch 8 --epochs 1 -t 2 -o n.mcz
    mc-info n.mcz >$policy.txt
done
same unset.txt active.txt
same unset.txt passive.txt
