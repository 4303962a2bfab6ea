# SPDX-License-Identifier: Apache-2.0
# mc-convert refuses inconsistent safetensors and npz files: one line, status 3, no output, little memory.
mc-data synth --samples 20 --size 8 -o data.mcz
mc-train -q -t 1 --net mlp:bn,4 --data data.mcz --epochs 0 -o a.mcz
mc-convert a.mcz -o good.npz
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/bad_tensor_files.py" good.npz bad >list
[ "$(wc -l <list)" -gt 70 ]

# announced sizes allocate nothing
[ -n "$MC_UNDER" ] || ulimit -v 1500000
while IFS=$'\t' read -r file why; do
    fails 3 "$why" mc-convert "bad/$file" --like a.mcz -o no.mcz
    # a pipe's end is known only at its end
    case $file in
    *.safetensors)
        rc=0
        mc-convert --from safetensors --like a.mcz -o no.mcz <"bad/$file" 2>err || rc=$?
        [ $rc = 3 ] && [ "$(wc -l <err)" = 1 ] || die "< $file: $rc $(cat err)"
        rc=0
        cat "bad/$file" | mc-convert --from safetensors --like a.mcz >out 2>err || rc=$?
        [ $rc = 3 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || die "| $file: $rc $(cat err)"
        ;;
    esac
done <list

# nor do the right shapes of a network of 1.6 GB, without the data
mc-train -q -t 1 --net mlp:2,3 --data data.mcz --epochs 0 -o small.mcz
mc-convert small.mcz -o small.npz
py <<'PY'
import struct, zipfile
with zipfile.ZipFile("hollow.npz", "w") as z:
    for name, v in np.load("small.npz").items():
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': %s}\n" % str(
            tuple({2: 20000, 3: 20001}.get(n, n) for n in v.shape)).encode()
        z.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head)
PY
fails 3 'truncated' mc-convert hollow.npz --net mlp:20000,20001 --data data.mcz -o no.mcz
# a header of 6 MB
py <<'PY'
from safetensors_reader import build
one = {"dtype": "F32", "shape": [], "data_offsets": [0, 0]}
open("many.safetensors", "wb").write(build({"a%0900d" % i: one for i in range(6500)}, b""))
PY
py <<'PY'
import subprocess
p = subprocess.Popen(["mc-convert", "--like", "a.mcz", "many.safetensors", "-o", "no.mcz"], stderr=subprocess.PIPE)
errors = p.stderr.read().decode()
_, status, usage = os.wait4(p.pid, 0)
p.returncode = os.waitstatus_to_exitcode(status)
assert os.path.getsize("many.safetensors") > 6e6 and p.returncode == 3 and errors.count("\n") == 1, (p.returncode, errors)
assert os.environ["MC_UNDER"] or usage.ru_maxrss < 48 << 10, usage.ru_maxrss
PY
[ ! -e no.mcz ] && [ ! -e no ] || die "a failed run wrote its output"
no_temporaries
