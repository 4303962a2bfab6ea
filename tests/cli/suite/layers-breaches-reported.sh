# SPDX-License-Identifier: Apache-2.0
#
# tests/layers.sh fails on an include that points upwards, an include between folders separated by |, a cycle between files,
# a folder that LAYERS does not list, and a folder of over 30 C files.
set -eu

mkdir -p libcommon/base libcommon/graph kernels formats/stream tools
printf 'libcommon/base libcommon/graph\nkernels | formats/stream\ntools\n' >LAYERS
includes() { printf '#include "%s"\n' "${@:2}" >"$1"; }
make_tree() {
    rm -f ./*/*.[ch] ./*/*/*.[ch]
    includes tools/mc-a.c kernels/k.h formats/stream/s.h libcommon/graph/g.h
    includes kernels/k.c kernels/k.h libcommon/base/b.h
    includes kernels/k.h libcommon/graph/g.h
    includes formats/stream/s.h libcommon/base/b.h
    includes libcommon/graph/g.h libcommon/base/b.h
    echo >libcommon/base/b.h
}
# what it has to say
refuses() {
    if "$MC_ROOT/tests/layers.sh" "$PWD" >out; then echo "not refused: $1"; exit 1; fi
    expect_words out "$1"
}

make_tree
"$MC_ROOT/tests/layers.sh" "$PWD"
includes libcommon/base/up.c libcommon/graph/g.h
refuses 'libcommon/base/up.c: "libcommon/graph/g.h" points upwards'
make_tree
includes kernels/k.c formats/stream/s.h
refuses 'kernels/k.c: "formats/stream/s.h": folders separated*|*not include each other'
make_tree
includes libcommon/base/b.h libcommon/base/c.h
includes libcommon/base/c.c libcommon/base/c.h libcommon/base/b.h
echo >libcommon/base/c.h
refuses 'cycle:'
make_tree
includes kernels/k.c k.h
refuses 'kernels/k.c: "k.h"*not in*folder*LAYERS'
make_tree
echo '#include <tools/a.h>' >libcommon/base/b.c
refuses 'libcommon/base/b.c: "tools/a.h" points upwards'
make_tree
printf '#include \\\n"tools/a.h"\n' >libcommon/base/b.c
refuses 'libcommon/base/b.c: "tools/a.h" points upwards'
make_tree
rm formats/stream/s.h tools/mc-a.c
refuses 'LAYERS lists formats/stream*contains no C file'
make_tree
mkdir kernels/new
echo >kernels/new/n.c
refuses 'LAYERS*not list kernels/new'
rm -r kernels/new
for i in {1..30}; do echo >tools/mc-$i.c; done
refuses 'tools: over 30 C files*headers'
