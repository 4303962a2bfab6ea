# SPDX-License-Identifier: Apache-2.0
# Labels, titles, names and layers may contain any bytes: mc-plot replaces only control characters and invalid UTF-8. Its SVG is
# well formed, also with texts as text.
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
printf 'x\ty\ttest.loss\ttest.accuracy\n0\t0\t1\t1\n1\t0\t2\t3\n0\t1\t2\t4\n1\t1\t1\t2\n' >plane.tsv
printf 'mark\tname\tx\ty\toff\nnetwork\ta\t0\t0\t0\nnetwork\tb\t1\t0\t0\nnetwork\tc\t0\t1\t0\n' >marks.tsv
echo 'svg.fonttype: none' >texts.mplstyle
py <<'P'
import xml.etree.ElementTree as xml
from picture import *

def check(picture, *texts):
    """Checks the picture's texts, and that its file is well formed and has them."""
    assert set(texts) <= set(picture.all_texts()), (texts, picture.all_texts())
    found = ["".join(e.itertext()) for e in xml.fromstring(picture.file()).iter() if e.tag.endswith("}text")]
    assert {t.strip() for t in texts} <= {t.strip() for t in found}, (texts, found)

texts = [(os.fsencode(t), t, t) for t in (
    "$x$", "'", '"a"', "\\", "\\n", "a\\", "$x", "$\\frac$", "_", "_x", "{/b a}_2^3", "%d %s %%", "&<>&amp;", "<!--", "a--", "a-->",
    "</svg>", "a]]>b]]>", "`date` $(date)", "#", ";", "/b", " a ", "x y", "θ₁ é 中 \U0001f600", "\u202eabc")]
texts += [(b"%d%bb" % (i, raw), "%d b" % i, "%d b" % i) for i, raw in enumerate((b"\t", b"\n", b"\x1b", b"\x7f", b"\xc2\x85", b"\r"))]
# in a table, the bytes of an incomplete character become one U+FFFD
texts += [(b"1\xffb", "1\ufffdb", "1\ufffdb"), (b"2\xef\xbf", "2\ufffd\ufffd", "2\ufffd"), (b"3\xef\xbf\xbeb", "3\ufffdb", "3\ufffdb"),
          (b"4\xed\xa0\x80b", "4\ufffd\ufffd\ufffdb", "4\ufffd\ufffd\ufffdb"), (b"\xc3", "\ufffd", "\ufffd")]
for i in range(0, len(texts), 7):
    raw, clean, cells = zip(*texts[i:i + 7])
    arguments = [os.fsdecode(r) for r in raw]
    with open("rows.tsv", "wb") as f:
        f.write(b"layer\tidentity\tpermuted\n")
        f.writelines(b"%b\t.1\t.5\n" % r.replace(b"\t", b" ").replace(b"\n", b" ") for r in raw)
    style = "--style=texts.mplstyle", "--size=1500x800"
    lines = [a.replace("/", "_") + "=a.tsv" for a in arguments]
    check(Picture("path", *lines, "--title", arguments[0], *style), *(c.replace("/", "_") for c in clean), clean[0])
    check(Picture("signature", "rows.tsv", "--title", arguments[1], *style), *cells, clean[1])
    names = "--y-name", arguments[-1], "--title", arguments[-2]
    check(Picture("dots", "--columns=permuted", *names, "rows.tsv", *style), *cells, *clean[-2:])
check(Picture("plane", "plane.tsv", "marks.tsv", "--names", "$a$,b''_c,\\d%s", "--title", "$", "--style=texts.mplstyle"),
      "$", "$a$", "b''_c", "\\d%s", "distance from $a$ towards b''_c")
P
# bytes of the command line, and a title that is too long
for format in svg png pdf; do
    timeout 60 mc-plot path $'_a\xff\e\n$]]>--=a.tsv' --size 400x300 --title "$(printf "\\\\_$%05000d" 0)" -o label.$format
done
/usr/bin/python3 -c 'import xml.etree.ElementTree as x; x.parse("label.svg")'
grep -qaF $'_a\uFFFD' label.svg || die 'no replacement for invalid UTF-8'
