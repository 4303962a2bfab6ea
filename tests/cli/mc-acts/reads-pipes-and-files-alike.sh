# SPDX-License-Identifier: Apache-2.0
# mc-acts: by default the first fifth of the images; the same bytes from a file, standard input and a pipe.
fixture pair
acts() { mc-acts --data data.mcz $small "$@"; }

acts a.mcz b.mcz -o m.mcz
mc-info --json m.mcz | grep -q "\"images\": *$((total / 5)),"
acts a.mcz b.mcz | same m.mcz -
acts --samples $((total / 5)) --shard 1/1 a.mcz b.mcz | same m.mcz -
cat a.mcz | acts - b.mcz | same m.mcz -
mc-acts --data - $small a.mcz b.mcz <data.mcz | same m.mcz -
