# SPDX-License-Identifier: Apache-2.0
# slurm.sh submits the data, an array of the networks, an array of the pairs and what is of all pairs, each after the one
# before, with what they take; its scripts, run in their order, are the graph. (make check-slurm has a real Slurm.)
script=$MC_ROOT/pipelines/cluster/slurm.sh
[ "$("$script" -h | wc -L)" -le 120 ]
fails 2 'which graph?' "$script"
fails 2 "there is no option '-z'" "$script" -z
fails 2 '-t needs a value' "$script" -t
fails 2 '-a and -g take a number' "$script" -a x connect.mk
fails 2 "there is no graph 'none.mk'" "$script" none.mk
fails 2 'paper.mk has parts' "$script" paper.mk
fails 2 "'fast' is no SETTING=VALUE" "$script" -n connect.mk fast
settings=(BIN="$MC_BUILD/bin" DATA=synth NET=mlp:bn,16 TRAIN_IMAGES=512 TEST_IMAGES=100 LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1)
! "$script" -n connect.mk "${settings[@]}" EPOKS=3 2>told
grep -q "there is no setting 'EPOKS'" told

# a Slurm that runs what it is given at once
mkdir path
cat >path/sbatch <<'SH'
#!/bin/bash
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $n >count
printf '%s\n' "$*" >>submitted
cat >script-$n
tasks=0
for o; do [[ $o != --array=0-* ]] || { tasks=${o#--array=0-} && tasks=${tasks%%%*}; }; done
for ((t = 0; t <= tasks; t++)); do SLURM_JOB_ID=$n SLURM_ARRAY_TASK_ID=$t bash script-$n >log-$n-$t 2>&1 || echo "$n $t" >>bad; done
echo "$n;cluster"
SH
chmod +x path/sbatch
export PATH=$PWD/path:$PATH
"$script" -m 3G -a 2 -s --partition=long connect.mk "${settings[@]}" RATES=mlp:bn,16=1:1 PAIRS="1:2 2:3:7" OUT=out >jobs 2>told || die "$(cat told)"
[ ! -e bad ] || die "$(cat bad log-*)"
is "$(paste -sd ' ' jobs)" 'data 1 network 2 pair 3 all 4'
is "$(grep -c -- '--partition=long' submitted)$(grep -c -- '--mem=3G' submitted)$(grep -c -- '--requeue' submitted)" 444
is "$(grep -o -- '--array=[^ ]*' submitted | paste -sd ' ')" '--array=0-2%2 --array=0-1%2'
is "$(grep -o -- '--dependency=[^ ]*' submitted | paste -sd ' ')" '--dependency=afterok:1 --dependency=afterok:2 --dependency=afterok:3'
# 512 images, 2 epochs at one a second are 0.3 hours; twice, and ten minutes
is "$(sed -n 2p submitted | grep -o -- '--time=[0-9]*')" --time=46
! grep -e '--gpus' submitted
graph connect PAIRS="1:2 2:3:7" OUT=whole
diff -r -x '.lock*' -x '.jobs*' -x '*.log.json' -x slurm out whole
# -n submits nothing; a device of CUDA's takes one for what trains
rm submitted
"$script" -n -t 1:00 -m 2G connect.mk "${settings[@]}" DEVICE=cuda SEEDS="4 5" OUT=new >scripts
[ ! -e submitted ] && [ ! -e new ]
is "$(grep -c '^# sbatch.*--gpus=1' scripts) $(grep -c '^# sbatch' scripts)" '2 4'
grep -q "PAIRS=4:5" scripts
# what Slurm refuses
printf '#!/bin/bash\ncat >/dev/null\nexit 1\n' >path/sbatch
! "$script" -t 1:00 -m 2G connect.mk "${settings[@]}" OUT=new 2>told
grep -q "sbatch refused the job 'data'$" told
# what it refuses later takes back what was submitted
printf '#!/bin/bash\ncat >/dev/null\nn=$(($(cat nth) + 1)) && echo $n >nth\n[ $n -lt 3 ] && echo "4$n;cluster"\n' >path/sbatch
printf '#!/bin/bash\necho "$*" >>cancelled\n[ ! -e broken ]\n' >path/scancel
chmod +x path/scancel
for broken in '' it; do
    echo 0 >nth
    : >cancelled
    [ -z "$broken" ] || touch broken
    ! "$script" -t 1:00 -m 2G connect.mk "${settings[@]}" OUT=new >jobs 2>told
    is "$(<cancelled)" '41 42'
    if [ -n "$broken" ]; then how='and scancel did not take back those before'; else how='those before are cancelled'; fi
    grep -q "sbatch refused the job 'pair'.* $how: 41 42$" told || die "$(cat told)"
done
