# SPDX-License-Identifier: Apache-2.0
# mc-acts: by default the first fifth of the images; the same bytes from a file, standard input and a pipe.
fixture pair

collect a.mcz b.mcz -o m.mcz
mc-info --json m.mcz | grep -q "\"images\": *$((total / 5)),"
collect a.mcz b.mcz | same m.mcz -
collect --samples $((total / 5)) --shard 1/1 a.mcz b.mcz | same m.mcz -
cat a.mcz | collect - b.mcz | same m.mcz -
mc-acts --data - $small a.mcz b.mcz <data.mcz | same m.mcz -
