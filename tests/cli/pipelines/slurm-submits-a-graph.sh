# SPDX-License-Identifier: Apache-2.0
# slurm.sh submits jobs for the data, the networks, the pairs and all tables, each after the previous one, with limits
# from the estimate. Run in order, the jobs make the experiment. (make check-slurm uses a real Slurm.)
script=$MC_ROOT/pipelines/cluster/slurm.sh
[ "$("$script" -h | wc -L)" -le 125 ]
"$script" --help | grep -q '^Usage: slurm.sh'
fails 2 "''*not an experiment*pipelines/" "$script"
fails 2 "'none.mk'*not an experiment*pipelines/" "$script" none.mk
fails 2 "'paper.mk'*not an experiment*pipelines/" "$script" paper.mk
fails 2 'illegal option -- z' "$script" -z
fails 2 'option requires*argument -- t' "$script" -t
stub_plot
settings=(BIN="$bin" DATA=synth NET=mlp:bn,16 TRAIN_IMAGES=512 TEST_IMAGES=100 LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1)
! "$script" -n connect.mk "${settings[@]}" EPOKS=3 >scripts 2>errors || die 'an unknown setting passes'
grep -q "'EPOKS' is not a setting" errors && [ ! -s scripts ] || die "$(cat errors scripts)"
! "$script" -n connect.mk BIN="$bin" DATA=npz DATA_DIR="$MC_ROOT/README.md" OUT=out >scripts 2>errors || die 'data of unknown size pass'
grep -q 'train.mcz is missing' errors && grep -q 'set -t and -m' errors && [ ! -s scripts ] || die "$(cat errors scripts)"

# a Slurm stub that runs each job at once; its options would look like an earlier make's job in out
mkdir path
cat >path/sbatch <<'SH'
#!/bin/bash
if [ $# != 0 ]; then
    printf '%s\n' "$*" >>submitted
    exec "$0"
fi
n=$(wc -l <submitted)
cat >script-$n
tasks=$(sed -n '$s/.*--array=0-\([0-9]*\).*/\1/p' submitted)
for ((t = 0; t <= ${tasks:-0}; t++)); do SLURM_JOB_ID=$n SLURM_ARRAY_TASK_ID=$t bash script-$n >log-$n-$t 2>&1 || echo "$n $t" >>bad; done
echo "$n;cluster"
SH
chmod +x path/sbatch
export PATH=$PWD/path:$PATH
"$script" -m 3G -a 2 -s --partition=long connect.mk "${settings[@]}" RATES=mlp:bn,16=1:1 PAIRS="1:2 2:3" OUT=out >jobs 2>errors || die "$(cat errors)"
[ ! -e bad ] || die "$(cat bad log-*)"
expect_equal "$(paste -sd ' ' jobs)" 'data 1 network 2 pair 3 all 4'
expect_equal "$(grep -c -- '--partition=long' submitted)$(grep -c -- '--mem=3G' submitted)$(grep -c -- '--requeue' submitted)" 444
expect_equal "$(grep -o -- '--array=[^ ]*' submitted | paste -sd ' ')" '--array=0-2%2 --array=0-1%2'
expect_equal "$(grep -o -- '--dependency=[^ ]*' submitted | paste -sd ' ')" '--dependency=afterok:1 --dependency=afterok:2 --dependency=afterok:3'
expect_equal "$(sed -n 4p submitted | grep -o -- '--time=[0-9]*')" --time=10
# 512 images, 2 epochs at one per second are 0.28 hours; twice that, plus ten minutes
expect_equal "$(sed -n 2p submitted | grep -o -- '--time=[0-9]*')" --time=43
! grep -e '--gpus' submitted || die 'a GPU for a CPU'
graph connect PAIRS="1:2 2:3" OUT=whole
diff -r -x '.lock*' -x '.settings' -x settings -x '*.log.json' -x slurm out whole
# seeds instead of pairs
rm submitted
"$script" -t 1:00 -m 2G connect.mk "${settings[@]}" SEEDS='1 2' OUT=seeds >jobs 2>errors || die "$(cat errors)"
[ ! -e bad ] || die "$(cat bad log-*)"
same out/1-2/curve-aligned.mcz seeds/1-2/curve-aligned.mcz
# -n submits nothing; each training on CUDA has a GPU
rm submitted
"$script" -n -t 1:00 -m 2G connect.mk "${settings[@]}" DEVICE=cuda SEEDS="4 5" OUT=new >scripts
[ ! -e submitted ] && [ ! -e new ] || die 'slurm.sh -n does something'
expect_equal "$(grep -c '^# sbatch.*--gpus=1' scripts) $(grep -c '^# sbatch' scripts)" '2 4'
grep -q 'pairs=(4:5)' scripts
# if Slurm refuses a job, earlier ones are cancelled
cat >path/sbatch <<'SH'
#!/bin/bash
cat >/dev/null
n=$(($(<nth) + 1))
echo $n >nth
[ $n -lt $(<refused) ] && echo "4$n;cluster"
SH
printf '#!/bin/bash\necho "$*" >>cancelled\n' >path/scancel
chmod +x path/scancel
for refused in 1 3; do
    echo 0 >nth
    echo $refused >refused
    ! "$script" -t 1:00 -m 2G connect.mk "${settings[@]}" OUT=new >jobs 2>errors || die 'a refused job passes'
    case $refused in
    1) expect_lines errors "slurm.sh: *'data'*cancelled: none" ;;
    3) expect_lines errors "slurm.sh: *'pair'*cancelled: 41 42" ;;
    esac
done
expect_equal "$(<cancelled)" '41 42'
