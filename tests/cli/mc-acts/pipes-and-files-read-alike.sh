# SPDX-License-Identifier: Apache-2.0
# mc-acts writes the same bytes from files, standard input and pipes. By default it reads the first fifth of the images.
fixture pair

collect a.mcz b.mcz -o m.mcz
mc-info --json m.mcz | grep -q "\"images\": *$((total / 5)),"
collect a.mcz b.mcz | same m.mcz -
collect --samples $((total / 5)) --shard 1/1 a.mcz b.mcz | same m.mcz -
cat a.mcz | collect - b.mcz | same m.mcz -
mc-acts --data - $small a.mcz b.mcz <data.mcz | same m.mcz -
