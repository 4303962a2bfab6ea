# SPDX-License-Identifier: Apache-2.0
# The tutorial and the guide to any module, pasted block by block without the venv, print what they claim.
need_torch 2.15
mkdir bin && printf '#!/bin/sh\nexec %s "$@"\n' "$python" >bin/python && chmod +x bin/python
PATH=$PWD/bin:$PATH OMP_NUM_THREADS=1
export PATH OMP_NUM_THREADS PYTHONPATH=$MC_ROOT/formats/python
$python - "$MC_ROOT/docs/tutorial.md" "$MC_ROOT/docs/guides/any-module.md" <<'END'
import re, sys
blocks = [b for page in sys.argv[1:] for b in re.findall(r"^```(\w+)\n(.*?)^```$", open(page).read(), re.M | re.S)]
assert len(blocks) == 21 and all("venv" in text for _, text in blocks[:2]), len(blocks)
script = []
for kind, text in blocks[2:]:
    name = re.match(r"# (\w+\.py)\n", text)
    if kind == "python":
        open(name[1], "w").write(text)
    else:
        script.append(text)
open("page.sh", "w").write("set -euo pipefail\n" + "".join(script))
END
bash page.sh >output 2>errors || die "$(cat output errors)"
cat output
cell() { awk -v n="$1" '$1 == n { print $2 + 0; exit }' output; }
expect_equal "$(cell b)" "$(cell pb)"
awk -v a="$(cell a)" -v m="$(cell merged)" -v u="$(cell mean-unaligned)" \
    'BEGIN { exit !(a > 40 && m > u + 5) }' || die 'alignment did not help the mean'
[ -s paths.svg ] || die 'no picture'
# the guide
grep -qx ' *16 .*8 in each of 4.*self_attn/block0' output || die 'the report lacks the groups within heads'
awk '/^line, unaligned: barrier/ { u = $4 + 0 } /^line, aligned: barrier/ { a = $4 + 0 } /^curve: barrier/ { c = $3 }
    END { exit !(c != "" && c < a && a < u - .1) }' output || die 'alignment in PyTorch did not lower the barrier'
mc-info --check curve-g.mcz p-g.mcz merged-g.mcz >/dev/null
[ -s joined.svg ] && [ -s merged-g.safetensors ] || die 'no picture or no merged network'
grep -q '^LSTM: logits differ by [0-9.]*e-0[5-9]$' output || die 'permuting an LSTM changed the logits'
if $python -c 'import transformers' 2>/dev/null; then
    python gpt2.py >output
    grep -qx ' *2 .*128 .*transformer.*' output && grep -q vocabulary output || die "$(cat output)"
fi
