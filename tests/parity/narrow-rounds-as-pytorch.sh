# SPDX-License-Identifier: Apache-2.0
# float32 is rounded to float16 and bfloat16 with PyTorch's bits: around every 16-bit number, its halfway values and their
# neighbours, and millions of random bits; NaN stays NaN.
need_torch 1.13
cat >compare.py <<'END'
import subprocess, sys
import numpy as np
import torch
every = torch.from_numpy(np.arange(1 << 16, dtype=np.uint16).view(np.int16))
draw = np.random.default_rng(5)
for name in "float16", "bfloat16":
    dtype = getattr(torch, name)
    wide = every.view(dtype).float().numpy().view("<u4").astype(np.int64)
    gap = 1 << (13 if name == "float16" else 16)
    near = np.concatenate([wide + d for d in (0, 1, -1, gap // 2, gap // 2 + 1, gap // 2 - 1, gap - 1)])
    small = (draw.random(200000) * 2.0 ** draw.integers(-30, -10, 200000)).astype("<f4").view("<u4") # float16's subnormals
    bits = np.concatenate([near.clip(0, (1 << 32) - 1), draw.integers(0, 1 << 32, 1 << 20), small]).astype("<u4")
    got = np.frombuffer(subprocess.run([sys.argv[1], name], input=bits.tobytes(), stdout=-1, check=True).stdout, "<u2")
    x = torch.from_numpy(bits.view("<f4").copy())
    expected = x.to(dtype).view(torch.int16).numpy().view("<u2")
    nan = x.isnan().numpy()
    assert len(got) == len(bits) and nan.sum() > 1000 and np.isinf(x[~nan].to(dtype).float().numpy()).sum() > 3
    wrong = np.flatnonzero((got != expected) & ~nan)
    assert not len(wrong), (name, hex(bits[wrong[0]]), hex(got[wrong[0]]), hex(expected[wrong[0]]))
    assert torch.from_numpy(got.view("<i2").copy()).view(dtype).isnan().numpy().tolist() == nan.tolist()
    print("%s: %d numbers, %d of them NaN" % (name, len(bits), nan.sum()))
END
$python compare.py "$MC_BUILD/tests/parity/test_narrow"
