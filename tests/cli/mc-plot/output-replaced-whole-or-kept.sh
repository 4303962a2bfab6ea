# SPDX-License-Identifier: Apache-2.0
# mc-plot replaces a picture completely or not at all, if a file may not be that large, or its folder is missing.
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
for format in svg png pdf; do
    echo old >x.$format
    fails_unchanged 1 "cannot write 'x.$format': File too large" bash -c 'ulimit -f 1 && exec mc-plot path a.tsv -o "$1"' - x.$format
    for unbuffered in '' 1; do # Python's standard output then writes only a part
        rc=0
        (ulimit -f 1 && PYTHONUNBUFFERED=$unbuffered mc-plot path a.tsv --format $format) >part 2>errors || rc=$?
        expect_equal "$rc: $(<errors)" "1: mc-plot: cannot write stdout: File too large"
    done
    mc-plot path a.tsv -o x.$format
    mc-plot path a.tsv --format $format | same x.$format -
done
fails_unchanged 1 "cannot write 'none/x.svg': No such file or directory" mc-plot path a.tsv -o none/x.svg
fails_unchanged 1 "cannot write 'x.svg/x.svg': Not a directory" mc-plot path a.tsv -o x.svg/x.svg
mkdir folder.svg
fails_unchanged 1 "cannot write 'folder.svg': Is a directory" mc-plot path a.tsv -o folder.svg
no_temporaries
