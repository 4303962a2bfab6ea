# SPDX-License-Identifier: Apache-2.0
# mc-plot replaces a picture completely or not at all, if gnuplot's output is truncated, gnuplot fails or is killed, or the
# disk is full.
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
for format in svg png pdf; do
    mc-plot path a.tsv --size 400x300 -o whole.$format
done

mkdir bin
printf '#!/bin/sh\ncat >/dev/null\ncat "$PICTURE"\n' >bin/gnuplot
chmod +x bin/gnuplot
export PICTURE="$PWD/broken"
refuses() { # FORMAT MESSAGE: mc-plot refuses the picture in `broken`
    echo old >x.$1
    fails 1 "$2" env PATH="$PWD/bin:$PATH" mc-plot path a.tsv -o x.$1
    [ "$(cat x.$1)" = old ] || die "replaced x.$1 by $(head -c 100 x.$1)"
}
for format in svg png pdf; do
    size=$(wc -c <whole.$format)
    # trailing newlines are not part of the picture
    for bytes in 0 1 7 100 $((size / 3)) $((size / 2)) 4096 $((size - 50)) $((size - 12)) $((size - 3)); do
        head -c $bytes whole.$format >broken
        refuses $format 'gnuplot drew an incomplete picture: no error message'
    done
    cp whole.$format broken
    PATH="$PWD/bin:$PATH" mc-plot path a.tsv -o x.$format
    same x.$format whole.$format
done
# other bytes at the start or end; another format
for format in svg png pdf; do
    { cat whole.$format; echo more; } >broken
    refuses $format 'gnuplot drew an incomplete picture'
    { echo before; cat whole.$format; } >broken
    refuses $format 'gnuplot drew an incomplete picture'
done
cp whole.svg broken
refuses png 'gnuplot drew an incomplete picture'
# a complete picture, half of one: gnuplot exits with a status or is killed
for end in 'exit 1' 'exit 2' 'kill -KILL $$' 'kill -TERM $$' 'kill -SEGV $$'; do
    printf '#!/bin/sh\ncat >/dev/null\ncat "$PICTURE"\n%s\n' "$end" >bin/gnuplot
    for format in svg png pdf; do
        cp whole.$format broken
        refuses $format 'gnuplot failed: no error message'
        head -c 1000 whole.$format >broken
        refuses $format 'gnuplot failed: no error message'
    done
done
printf '#!/bin/sh\ncat >/dev/null\necho "cannot write to the terminal" >&2\n' >bin/gnuplot
refuses svg 'gnuplot drew an incomplete picture: cannot write to the terminal'
for format in svg png pdf; do
    echo old >x.$format
    rc=0
    (ulimit -f 1 && mc-plot path a.tsv -o x.$format) 2>err || rc=$?
    [ "$rc $(cat x.$format)" = "1 old" ] || die "over the limit: status $rc, $(wc -c <x.$format) bytes"
done
no_temporaries
