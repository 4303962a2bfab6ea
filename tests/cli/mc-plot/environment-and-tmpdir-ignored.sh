# SPDX-License-Identifier: Apache-2.0
# mc-plot needs no folder for temporary files and ignores the user's settings; a closed pipe ends it.
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
mc-plot path a.tsv --size 400x300 -o whole.svg
mkdir home
# runs the program directly: valgrind needs a folder for temporary files
for settings in TMPDIR=/nowhere TMPDIR=/proc "HOME=$PWD/home" GNUTERM=qt GNUTERM=dumb "GNUTERM=svg size 9,9"; do
    env "$settings" "$MC_BUILD/bin/mc-plot" path a.tsv --size 400x300 -o x.svg
    same x.svg whole.svg
done
no_temporaries
timeout 60 mc-plot path a.tsv --format svg | true
expect_equal "${PIPESTATUS[0]}" 141
