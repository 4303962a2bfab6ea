# SPDX-License-Identifier: Apache-2.0
# mc-plot replaces a picture by a whole one or not at all, wherever gnuplot's broke off or the disk was full.
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
for format in svg png pdf; do
    mc-plot path a.tsv --size 400x300 -o whole.$format
done

mkdir bin
printf '#!/bin/sh\ncat >/dev/null\ncat "$PICTURE"\n' >bin/gnuplot
chmod +x bin/gnuplot
export PICTURE="$PWD/broken"
refused() { # FORMAT: what lies in broken
    echo old >x.$1
    fails 1 "gnuplot drew" env PATH="$PWD/bin:$PATH" mc-plot path a.tsv -o x.$1
    [ "$(cat x.$1)" = old ] || die "replaced x.$1 by $(head -c 100 x.$1)"
}
for format in svg png pdf; do
    size=$(wc -c <whole.$format)
    # newlines at the end are no part of the picture
    for bytes in 0 1 7 100 $((size / 3)) $((size / 2)) 4096 $((size - 50)) $((size - 12)) $((size - 3)); do
        head -c $bytes whole.$format >broken
        refused $format
    done
    cp whole.$format broken
    PATH="$PWD/bin:$PATH" mc-plot path a.tsv -o x.$format
    same x.$format whole.$format
done
for damage in 's|</text>||' 's|</svg>|</svg><svg></svg>|' "s|height='|height=|" 's|loss|lo\&ss|' 's|loss|lo<ss|' \
    's|loss|lo\xffss|' 's|loss|lo\x1bss|' 's|<svg|<gvs|' '$s|$|more|' 's|loss|]]>|'; do
    LC_ALL=C sed "$damage" whole.svg >broken
    ! cmp -s broken whole.svg || die "$damage: changes nothing"
    refused svg
done
{ head -c 5000 whole.png; printf 'xx'; tail -c +5003 whole.png; } >broken
refused png
{ cat whole.png; echo more; } >broken
refused png
{ cat whole.pdf; echo more; } >broken
refused pdf
sed 's/^startxref$/startxref\n1/' whole.pdf >broken
refused pdf
for format in svg png pdf; do
    echo old >x.$format
    rc=0
    (ulimit -f 1 && mc-plot path a.tsv -o x.$format) 2>err || rc=$?
    [ "$rc $(cat x.$format)" = "1 old" ] || die "over the limit: status $rc, $(wc -c <x.$format) bytes"
done
no_temporaries
