# SPDX-License-Identifier: Apache-2.0
# If its reader exits, a program ends by SIGPIPE without a message.
closed() {
    { rc=0 && "$@" 2>err || rc=$?; echo $rc >status; } | head -c 1 >out
    expect_equal "$(<status) $(<err)" '141 '
}
closed mc-train -q --data "$MC_ROOT/formats/samples/good-dataset.mcz" --no-augment --net mlp:20000 --epochs 1 # 0.5 MB
closed mc-data synth
