# SPDX-License-Identifier: Apache-2.0
# mc-convert --groups refuses tensors of types without a conversion (8-bit floats, complex, other byte orders), unless a
# map leaves them out. Integers, which are buffers, are left out with a note.
py <<'END'
import struct
from safetensors_reader import build
def save(path, **tensors):
    head, body = {}, b""
    for k, (kind, shape, size) in {"w": ("F32", [6], 4), **tensors}.items():
        n = int(np.prod(shape)) * size
        head[k] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + n]}
        body += bytes(n)
    open(path, "wb").write(build(head, body))
for kind, size in ("F8_E4M3", 1), ("F8_E5M2", 1), ("F8_E8M0", 1), ("C64", 8):
    save(kind + ".safetensors", x=(kind, [3, 4], size))
whole = {"BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "I32": 4, "U32": 4, "I64": 8, "U64": 8}
save("whole.safetensors", **{"buffer" + k: (k, [2, 2], n) for k, n in whole.items()})
save("one.safetensors", mask=("BOOL", [2], 1))
w = np.arange(6, dtype="f4")
for name, dtype in ("complex", "c8"), ("big", ">f4"), ("long", "g"), ("text", "U3"), ("date", "M8[s]"):
    np.savez(name + ".npz", w=w, x=np.zeros(4, dtype))
np.savez("integers.npz", w=w, **{t: np.zeros(3, t) for t in ("?", "i1", "u2", ">i4", "u8")})
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\nw\t0\t0\t3\t2\tg\n")
open("without.map", "w").write("x -\n")
END
for n in F8_E4M3:F8_E4M3.safetensors F8_E5M2:F8_E5M2.safetensors F8_E8M0:F8_E8M0.safetensors C64:C64.safetensors \
    '<c8:complex.npz' '>f4:big.npz' '<f16:long.npz' '<U3:text.npz' '<M8[s]:date.npz'; do
    file=${n#*:}
    fails_unchanged 3 "$file: \"x\"*dtype ${n%%:*}*converted (make*float32*leave*out with --map)" \
        mc-convert $file --groups g.tsv -o x.mcz
    mc-convert $file --groups g.tsv --map without.map -o out-$file.mcz
    mc-convert out-$file.mcz -o out.npz
    expect_equal "$(py <<<'print(*np.load("out.npz"))')" w
done
# also for the network of another stream without a graph
fails_unchanged 3 'F8_E4M3.safetensors: tensors do not match the network: unexpected x' mc-convert F8_E4M3.safetensors --like out-big.npz.mcz -o x.mcz
expect_message 'mc-convert: one.safetensors: left out 1 tensor*mask*BOOL' mc-convert one.safetensors --groups g.tsv
expect_message 'mc-convert: whole.safetensors: left out 9 tensors*bufferBOOL*BOOL*bufferI8*I8*bufferU8*U8' \
    mc-convert whole.safetensors --groups g.tsv
expect_message 'mc-convert: integers.npz: left out 5 tensors*?*|b1*i1*|i1*u2*<u2' mc-convert integers.npz --groups g.tsv
mc-convert -q whole.safetensors --groups g.tsv -o x.mcz 2>notes
expect_equal "$(<notes)" ''
