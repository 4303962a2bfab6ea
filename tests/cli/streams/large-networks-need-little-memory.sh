# SPDX-License-Identifier: Apache-2.0
# Files of networks are permuted, converted, merged, connected and checked with little more memory than a small network needs.
[ -z "${MC_UNDER:-}" ] || exit 77 # sanitizers need more
py <<'END'
import resource, subprocess
from mcz import safetensors
rows = "tensor\taxis\toffset\tcount\tblock\tgroup\n"
draw = np.random.RandomState(1)
for name, n in ("small", 8), ("large", 1024):
    for which in "ab":
        safetensors.write("%s-%s.safetensors" % (name, which), {"t%d" % i: draw.randn(n, n).astype("f4") for i in range(16)})
    open(name + ".tsv", "w").write(rows + "".join("t%d\t%d\t0\t%d\t1\tg%d\n" % (i, a, n, i - (1 - a)) for i in range(16)
                                                  for a in (0, 1) if 0 <= i - (1 - a) < 15))

def peak(command):
    """Peak memory of a command in bytes."""
    code = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:]).returncode; "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(r)")
    out = subprocess.run(["/usr/bin/python3", "-c", code] + command.split(), check=True, stdout=subprocess.PIPE).stdout
    return int(out.split()[-1])

for command in ("mc-convert N-a.safetensors --groups N.tsv -o N-a.mcz", "mc-convert N-b.safetensors --groups N.tsv -o N-b.mcz",
                "mc-permute --random 1 N-b.mcz -o N-pb.mcz", "mc-merge N-a.mcz N-pb.mcz -o N-m.mcz",
                "mc-bezier --epochs 0 N-a.mcz N-pb.mcz -o N-line.mcz", "mc-bezier --point .5 N-line.mcz -o N-x.mcz",
                "mc-info -q --check N-line.mcz", "mc-info -q --check N-m.mcz", "mc-convert N-m.mcz -o N-m.safetensors"):
    small, large = (peak(command.replace("N", n)) for n in ("small", "large"))
    assert large - small < 32 << 20, (command, small, large)  # a network has 64 MiB, a tensor 4
a, b = (mcz.read("large-%s.mcz" % x).id for x in "mx")
assert a == b, "the mean and the middle of the line differ"
END
