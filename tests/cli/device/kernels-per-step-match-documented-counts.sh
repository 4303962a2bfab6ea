# SPDX-License-Identifier: Apache-2.0
# Kernels and bytes per training step, counted on the emulated device, match the table in docs/dev/gpu.md. Counts of one
# network do not depend on others, and a wrong call is refused.
require_emulation
count=$MC_BUILD/tests/emulation/kernels
export MC_EMULATION_IDLE=1
"$count" 0 bf16 128 tinyten resnet32 googlenet >counts
awk -F'\t' '$2 == "all" { printf "%s %d %.0f\n", $1, $3, $4 }' counts >counted
awk -F' *[|] *' '/^\| (tinyten|resnet32|googlenet) \| [0-9, |]*$/ { gsub(",", ""); print $2, $4, $6 }' "$MC_ROOT/docs/dev/gpu.md" >documented
[ "$(wc -l <documented)" = 3 ] || die "docs/dev/gpu.md: $(cat documented)"
same counted documented
awk -F'\t' '$2 != "all" { n[$1] += $3; mb[$1] += $4 } $2 == "all" { if (n[$1] != $3 || mb[$1] - $4 > 2 || $4 - mb[$1] > 2) exit 1 }' counts
"$count" 0 bf16 128 tinyten >alone
grep '^tinyten' counts | cmp - alone
rc=0
"$count" 0 bf16 0 tinyten 2>err || rc=$?
[ $rc = 2 ] && grep -q '^usage: kernels ' err || die "status $rc"
fails 1 "unknown precision 'f8'" "$count" 0 f8 128 tinyten
