# SPDX-License-Identifier: Apache-2.0
# gpu-bench compares mc with PyTorch on the emulated device, and names a side that failed.
require_emulation

# a PyTorch stub: modes and their speeds
cat >python <<'END'
#!/bin/bash
[ "$1" != -c ] || exit 0
for mode in $2; do [ "$mode" = "${OMIT:-}" ] || printf '%s\t%s\n' "$mode" "$([ $mode = cl,bf16,graph ] && echo 1000000 || echo 500000)"; done
END
chmod +x python
PYTHON=$PWD/python PRECISION=f32 ROUNDS=2 SECS=.01 "$MC_ROOT/tests/gpu/bench" "$MC_BUILD" mlp:8:4 >out 2>err
[ "$(grep -c '^mlp:8	4	torch,' out)" = 16 ] && [ "$(grep -c '^mlp:8	4	mc,f32' out)" = 2 ] || die "$(cat out)"
grep -q '^mlp:8, batch 4, mc,f32: a fixed order costs' out || die "$(cat out)"
tail -n 1 out | grep -q 'mc,f32.* torch,cl,bf16,graph 1000000: 0\.[0-9]* times the best of PyTorch$' || die "$(cat out)"
[ "$(grep -c '^mlp:8, batch 4, round [12]: torch,cl,f16	500000' err)" = 2 ] || die "$(cat err)"
# a side without results is named in each network's lines and at the end
rc=0
OMIT=cl,bf16,graph PYTHON=$PWD/python PRECISION=f32 ROUNDS=1 SECS=.01 NETS='mlp:8:4 mlp:8:2' "$MC_ROOT/tests/gpu/bench" \
    "$MC_BUILD" >out 2>err || rc=$?
[ $rc = 1 ] && grep -qx 'mlp:8, batch 4: missing: torch,cl,bf16,graph' out &&
    grep -q '^mlp:8, batch 2: .* times the best of PyTorch that was measured$' out &&
    tail -n 1 out | grep -qx 'gpu-bench: missing: mlp:8, batch 4: torch,cl,bf16,graph; mlp:8, batch 2: torch,cl,bf16,graph' ||
    die "status $rc: $(cat out)"
rc=0
PYTHON=false PRECISION='f32 none' ROUNDS=1 SECS=.01 "$MC_ROOT/tests/gpu/bench" "$MC_BUILD" mlp:8:4 >out 2>err || rc=$?
[ $rc = 1 ] && tail -n 1 out | grep -qx 'gpu-bench: missing: mlp:8, batch 4: mc,none mc,none,any-order' || die "$rc: $(cat out)"
