# SPDX-License-Identifier: Apache-2.0
# mc-train holds a data set once: reading it does not need twice its size.
[ -z "$MC_UNDER" ] || exit 77 # sanitizers need their own memory

mc-data synth --size 64 --samples 8000 -o large.mcz
mc-data synth --size 64 --samples 500 -o small.mcz
py <<'PY' || die "too much memory"
import resource, subprocess
peak = {}
for name in "small", "large":
    subprocess.run(["mc-train", "-q", "-t", "1", "--net", "mlp:1", "--no-augment", "--epochs", "1", "--batch", "500",
                    "--data", name + ".mcz", "-o", "w.mcz"], check=True)
    peak[name] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
pixels = (8000 - 500) * 3 * 64 * 64
assert peak["large"] - peak["small"] < 1.25 * pixels, (peak, pixels)
PY
