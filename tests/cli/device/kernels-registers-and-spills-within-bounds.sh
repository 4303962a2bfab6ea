# SPDX-License-Identifier: Apache-2.0
# The kernels that move most bytes per training step, compiled for sm_90, use at most the registers in own-kernels.tsv,
# spill nothing, and load and store 16 bytes at a time. Each kernel's comment says which bytes it moves.
kept=$MC_BUILD/kernels/cuda
if [ ! -e "$MC_BUILD/lib/libmc-cuda.so" ]; then
    echo 'kernels-registers-and-spills-within-bounds: nothing is compiled: nvcc and cuDNN are missing'
    exit 77
elif ! ls "$kept"/norm.cu.ptx >/dev/null 2>&1; then
    echo 'kernels-registers-and-spills-within-bounds: code for sm_90 is missing (CUDA_ARCH)'
    exit 77
fi

# measured FILE PREFIX: prints the figures of the kernel whose symbol has this prefix, in the table's order
measured() {
    awk -v prefix="$2" '
        FILENAME ~ /ptxas$/ && /Compiling entry function/ { mine = index($0, "\047" prefix) && /sm_90/ }
        FILENAME ~ /ptxas$/ && mine && /spill stores/ { spilled += $1 + $5 + $9; found++ }
        FILENAME ~ /ptxas$/ && mine && /Used [0-9]+ registers/ { sub(/.*Used /, ""); registers = $1 + 0 }
        FILENAME ~ /ptx$/ && /\.entry/ { inside = index($0, " " prefix) }
        FILENAME ~ /ptx$/ && inside && /[ \t](ld|st)\.global/ {
            wide = /\.v4\.[bfsu]32/ || /\.v2\.[bfsu]64/
            count[(/ld\.global/ ? "l" : "s") wide]++
        }
        END {
            if (found == 1)
                print registers, spilled + 0, count["l1"] + 0, count["l0"] + 0, count["s1"] + 0
        }' "$kept/$1.cu.ptxas" "$kept/$1.cu.ptx"
}

# check TABLE: prints each bound that does not hold
check() {
    local kernel file prefix registers wide other stores got
    while IFS=$'\t' read -r kernel file prefix registers wide other stores; do
        [ "$kernel" != kernel ] || continue
        read -ra got < <(measured "$file" "$prefix") || true
        if [ ${#got[@]} != 5 ]; then
            echo "$kernel: there is not one such kernel in $file.cu"
            continue
        fi
        [ "${got[0]}" -le "$registers" ] || echo "$kernel: ${got[0]} registers, not $registers at most"
        # counted over the whole kernel, not per loop: norm_apply's 9 loads include 6 of parameters, x and the addend
        [ "${got[1]}" = 0 ] || echo "$kernel: ${got[1]} bytes of stack and spills"
        [ "${got[2]}" -ge "$wide" ] || echo "$kernel: ${got[2]} loads of 16 bytes, not $wide at least"
        [ "${got[3]}" -le "$other" ] || echo "$kernel: ${got[3]} narrower loads, not $other at most"
        [ "${got[4]}" -ge "$stores" ] || echo "$kernel: ${got[4]} stores of 16 bytes, not $stores at least"
        awk -v kernel="$kernel" '
            /^\/\*/ { comment = "" }
            { comment = comment " " $0 }
            index($0, "__global__ void " kernel "(") { found = comment ~ /Memory traffic: / }
            /^}/ { comment = "" }
            END { exit !found }' "$MC_ROOT/kernels/cuda/$file.cu" || echo "$kernel: its comment has no memory traffic"
    done <"$1"
}

table=$MC_ROOT/tests/cli/device/own-kernels.tsv
[ "$(grep -c . "$table")" = 14 ] || die "$table has not thirteen kernels"
expect_equal "$(check "$table")" ''
# the last block reads what the others wrote: every such counter needs a fence on both sides
list_unfenced() {
    cat "$@" | awk '
        /\.entry/ { name = $0; fences = 0 }
        /membar\.gl|fence\.[a-z_]*\.gpu/ { fences++; if (open) open = 0 }
        /atom\.(global\.)?inc|atom\..*inc\.u32/ { counters++; if (!fences) print name; open = 1 }
        /^}/ { if (open) print name; open = 0 }
        END { if (counters < 2) print counters + 0 " counters" }'
}
expect_equal "$(list_unfenced "$kept"/*.cu.ptx)" ''
sed '/membar\.gl/d; /fence\..*gpu/d' "$kept/norm.cu.ptx" >without.ptx
list_unfenced without.ptx | grep -q entry || die 'found no missing fence'
# each bound can fail
awk -F'\t' -v OFS='\t' 'NR == 2 { $4 = 1; $5 = 99; $6 = -1; $7 = 99 } NR == 3 { $3 = "_Z4none" } { print }' "$table" >other
expect_equal "$(check other | cut -d: -f1 | sort | uniq -c | tr -s ' ')" $' 1 norm_apply\n 4 norm_sums'
sed 's/norm_apply\t/norm_prepare\t/' "$table" >other
check other | grep -qx 'norm_prepare: its comment has no memory traffic'
