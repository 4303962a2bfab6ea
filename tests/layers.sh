#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The layers hold: tests/layers.sh [ROOT] reads ROOT/LAYERS and every include of the sources that it lists, and tells
# each include that points upwards or across, or that is not written from the root, each folder that is not listed or
# holds over 30 C files, each cycle between files (NAME.c and NAME.h are one file here), each other user of a header that
# says "For NAME.c alone.", and what is tracked at the top and does not belong there. `make check` begins with it.
set -u
. "$(dirname "$(readlink -f "$0")")/../pipelines/include/environment.sh" || exit 2
cd "${1:-$MC_ROOT}" || exit 2
top='.ci .clang-format .editorconfig .gitattributes .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md Containerfile LAYERS LICENSE
    Makefile README.md SECURITY.md docs formats kernels libcommon pipelines tests tools'
if [ -e .git ] && git ls-files | sed 's|/.*||' | sort -u | grep -vxF "$(printf '%s\n' $top)" | sed 's/$/: is tracked, and does not belong at the top/' | grep .; then
    exit 1
fi
find libcommon kernels formats tools -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort |
    awk '
    function folder(path) { sub("/[^/]*$", "", path); return path }
    function bad(text) { print text; failed = 1 }
    # depth first; open[m] is 1 while m is on the way down, 2 when all below it was seen
    function visit(m, way,    i, n, to) {
        if (open[m] == 1) { bad("cycle:" substr(way, index(way, " " m " ")) m); return }
        if (open[m]) return
        open[m] = 1
        n = split(uses[m], to, " ")
        for (i = 1; i <= n; i++) visit(to[i], way m " ")
        open[m] = 2
    }
    FILENAME == "LAYERS" {
        sub("#.*", "")
        group = 1
        for (i = 1; i <= NF; i++)
            if ($i == "|") group++
            else { layer[$i] = FNR; groups[$i] = group; place[$i] = ++n_folders }
        next
    }
    {
        file = $0; here = folder(file); self = file; sub("[.][a-z]+$", "", self); files++
        if (!(here in layer)) { if (!told[here]++) bad("LAYERS does not list " here); next }
        if (++held[here] == 31) bad(here ": over 30 C files and headers")
        while ((got = (getline line <file)) > 0) {
            while (line ~ /\\$/ && (getline more <file) > 0) { sub(/\\$/, "", line); line = line more }
            if (match(line, /For [a-z_]+[.]c alone[.]/)) alone[self] = here "/" substr(line, RSTART + 4, RLENGTH - 11)
            if (line !~ /^[ \t]*#[ \t]*include[ \t]*("|<(libcommon|kernels|formats|tools|tests)\/)/) continue
            sub("^[^\"<]*[\"<]", "", line); sub("[\">].*", "", line)
            to = folder(line); other = line; sub("[.][a-z]+$", "", other)
            if (line ~ /^(algorithms|plans)\.inc$/) continue # made by make
            if (line == "tests/emulation/emulate.h" && here == "kernels/cuda") continue
            if (!(to in layer)) bad(file ": \"" line "\" is not in a folder of LAYERS")
            else if (layer[to] == layer[here] && groups[to] != groups[here])
                bad(file ": \"" line "\": the two folders do not know each other")
            else if (place[to] > place[here]) bad(file ": \"" line "\" points upwards")
            else if (self != other) { uses[self] = uses[self] " " other; users[other] = users[other] " " file }
        }
        if (got < 0) bad(file ": cannot be read")
        close(file)
    }
    END {
        if (!n_folders || !files) bad("no folders, or no files")
        for (m in uses) visit(m, " ")
        for (m in alone) {
            n = split(users[m], by, " ")
            for (i = 1; i <= n; i++) if (by[i] != alone[m]) bad(by[i] ": " m ".h is for " alone[m] " alone")
        }
        for (m in layer) if (!held[m]) bad("LAYERS lists " m ", which holds no C file")
        exit failed
    }' LAYERS -
