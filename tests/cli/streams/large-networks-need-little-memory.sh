# SPDX-License-Identifier: Apache-2.0
# Networks in files are permuted, joined, converted, merged, connected and checked with little more memory than a small network
# needs. So is a network from a pipe, unless its member of a joint set is found by its id: then it is held once.
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
    """Peak memory of a command, or of the last one of "cat FILE | COMMAND", in bytes."""
    code = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:]).returncode; "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(r)")
    *cat, command = command.split(" | ")
    pipe = subprocess.Popen(cat[0].split(), stdout=subprocess.PIPE).stdout if cat else None
    out = subprocess.run(["/usr/bin/python3", "-c", code] + command.split(), check=True, stdin=pipe, stdout=subprocess.PIPE).stdout
    return int(out.split()[-1])

for command in ("mc-convert N-a.safetensors --groups N.tsv -o N-a.mcz", "mc-convert N-b.safetensors --groups N.tsv -o N-b.mcz",
                "mc-permute --random 1 --perm-out N-p.mcz N-b.mcz -o N-pb.mcz",
                "cat N-b.mcz | mc-permute -v --random 1 - -o N-pb2.mcz", "cat N-b.mcz | mc-permute --identity - -o N-i.mcz",
                "mc-permute --join N-a.mcz N-b.mcz -o N-j.mcz", "cat N-b.mcz | mc-permute --member 2 N-j.mcz - -o N-b2.mcz",
                "mc-bezier --epochs 0 --perm N-p.mcz N-a.mcz N-b.mcz -o N-curve.mcz", "mc-permute N-curve.mcz N-b.mcz -o N-pb3.mcz",
                "cat N-curve.mcz | mc-permute --inverse - -o N-q.mcz", "mc-merge N-a.mcz N-pb.mcz -o N-m.mcz",
                "mc-bezier --epochs 0 N-a.mcz N-pb.mcz -o N-line.mcz", "mc-bezier --point .5 N-line.mcz -o N-x.mcz",
                "mc-info -q --check N-line.mcz", "mc-info -q --check N-m.mcz", "mc-convert N-m.mcz -o N-m.safetensors"):
    small, large = (peak(command.replace("N", n)) for n in ("small", "large"))
    assert large - small < 32 << 20, (command, small, large)  # a network has 64 MiB, a tensor 4
command = "cat N-b.mcz | mc-permute N-j.mcz - -o N-b3.mcz"
small, large = (peak(command.replace("N", n)) for n in ("small", "large"))
assert 56 << 20 < large - small < 96 << 20, (command, small, large)
ids = [[mcz.read("large-%s.mcz" % x).id for x in names.split()] for names in ("pb pb2 pb3", "b b2 b3")]
assert all(len(set(i)) == 1 for i in ids), "permuted networks differ"
a, b = (mcz.read("large-%s.mcz" % x).id for x in "mx")
assert a == b, "the mean and the middle of the line differ"
END
