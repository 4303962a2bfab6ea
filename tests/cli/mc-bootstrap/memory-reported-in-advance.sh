# SPDX-License-Identifier: Apache-2.0
# With -v, mc-bootstrap and mc-eval --losses report the memory for every image's losses before they allocate it. Above the
# limit they fail in one line and keep old files.
mc-data synth --samples 2000 --size 8 -o d.mcz
for s in 1 2; do mc-train -q --net mlp:4 --data d.mcz --epochs 0 --seed $s -o n$s.mcz; done
mc-bezier --epochs 0 n1.mcz n2.mcz -o line.mcz
mc-eval -v -t 1 --points 3 --data d.mcz --losses d.losses line.mcz -o t.tsv 2>errors
expect_words errors 'memory: *3 points 0.0 MB*3 points'
mc-bootstrap -v -t 1 --resamples 1000 d.losses -o i.tsv 2>errors
expect_words errors 'mc-bootstrap: memory: *1000 resamples 0.3 MB'
mc-bootstrap -v -t 3 --resamples 1000 d.losses d.losses 2>errors >i.tsv
expect_words errors 'mc-bootstrap: memory: *1000 resamples 0.6 MB'

[ -z "$MC_UNDER" ] || exit 0 # sanitizers need their own memory
ulimit -v 900000
fails_unchanged 1 'out of memory: *required' mc-eval -q -t 1 --points 100001 --data d.mcz --losses d.losses line.mcz -o t.tsv
ulimit -v 140000
fails_unchanged 1 'd.losses: out of memory: *required' mc-bootstrap -t 1 --resamples 1000000 d.losses -o i.tsv
