# SPDX-License-Identifier: Apache-2.0
# mc-hungarian finds SciPy's permutation, from files and pipes, with the same bytes on any number of
# threads and every instruction set, and tells what there is to tell.
set -eu
python() { /usr/bin/python3 "$MC_ROOT/tests/cli/hungarian.py" "$@"; }
python make m.mcz
mc-hungarian -q m.mcz -o p.mcz
mc-info --check -q p.mcz
python check m.mcz p.mcz

mc-hungarian -q -t 1 m.mcz >one.mcz
mc-hungarian -q --threads 2 - <m.mcz >two.mcz
cat m.mcz | MC_ISA=portable mc-hungarian -q -o portable.mcz
MC_ISA=avx2 mc-hungarian -q m.mcz -o avx2.mcz
for other in one two portable avx2; do cmp p.mcz $other.mcz; done

# without history: the same content
id() { mc-info --check "$1" | sed 's/.* id \([0-9a-f]*\),.*/\1/'; }
mc-hungarian -q --no-history m.mcz -o plain.mcz
[ "$(id plain.mcz)" = "$(id p.mcz)" ] && ! cmp -s plain.mcz p.mcz

# dead units are told unless -q, the rest with -v
mc-hungarian m.mcz 2>told >out.mcz
cmp out.mcz p.mcz
[ -s told ] && ! grep -vE '^mc-hungarian: layer[0-9]: of [0-9]+ units, [0-9]+ of a and [0-9]+ of b are dead' told
mc-hungarian -v m.mcz 2>verbose >out.mcz
[ "$(grep -cE '^mc-hungarian: layer[0-9]: [0-9]+ units, value [-0-9.e]+ \(mean [-0-9.]+\), gap [-0-9.e]+, [0-9]+ in ties$' verbose)" = 7 ]
[ "$(grep -c ' dead and ' verbose)" = "$(wc -l <told)" ]
mc-hungarian -q m.mcz 2>quiet >out.mcz
[ ! -s quiet ]
