# SPDX-License-Identifier: Apache-2.0
# mc-train holds a data set once: its memory grows by the pixels, not by twice as much while they come.
[ -z "$MC_UNDER" ] || exit 77 # they hold memory of their own

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
