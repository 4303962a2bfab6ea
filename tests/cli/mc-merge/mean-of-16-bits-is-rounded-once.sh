# SPDX-License-Identifier: Apache-2.0
# Means of float16 and bfloat16, and points of lines between such networks, are the exact values rounded once. Rounding to
# float32 in between gives other bits, which the drawn numbers make frequent.
py <<'END'
symmetry = "tensor\taxis\toffset\tcount\tblock\tgroup\n" + "".join("%s\t0\t0\t2\t1\tg\n" % t for t in "bh")
draw = np.random.default_rng(8)
for i in range(3):
    # small numbers decide how a number near a halfway value is rounded
    x = draw.standard_normal((2, 4000)) * 2.0 ** (-14 * i + draw.integers(-4, 4, (2, 4000)))
    b = (x.astype("<f4").view("<u4") >> 16).astype("<u2")
    mcz.write("n%d.mcz" % i, "weights", {"net": "groups", "dataset": "", "symmetry": symmetry}, {"b": b, "h": x.astype("<f2")},
              dtypes={"b": "bfloat16", "h": "float16"})
END
mc-merge --weights 1,4,2 n0.mcz n1.mcz n2.mcz -o mean.mcz
mc-merge n0.mcz n2.mcz n1.mcz -o thirds.mcz
mc-bezier --epochs 0 n0.mcz n2.mcz -o line.mcz
mc-bezier --point .125 line.mcz -o point.mcz
mc-bezier --point .125 - -o piped.mcz <line.mcz
same_content point.mcz piped.mcz
py <<'END'
from fractions import Fraction
inputs = [mcz.widened(mcz.read("n%d.mcz" % i)) for i in range(3)]
layout = {"b": (8, -133), "h": (11, -24)}  # significant bits, exponent of the smallest number

def rounded(x, bits, smallest):
    """The nearest number, ties to even."""
    if not x:
        return x
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent -= abs(x) < Fraction(2) ** exponent
    step = Fraction(2) ** max(exponent - bits + 1, smallest)
    return round(x / step) * step

for name, weights in (("mean", (1, 4, 2)), ("thirds", (1, 1, 1)), ("point", (7, 0, 1))):
    out, twice = mcz.widened(mcz.read(name + ".mcz")), 0
    for k, how in layout.items():
        for *x, y in zip(*(i[k].ravel().tolist() for i in inputs), out[k].ravel().tolist()):
            exact = sum(w * Fraction(v) for w, v in zip(weights, x)) / sum(weights)
            assert Fraction(y) == rounded(exact, *how), (name, k, x, y)
            twice += rounded(Fraction(float(np.float32(float(exact)))), *how) != y
    assert twice, name + ": no number shows whether it is rounded twice"
    print(name, twice, "numbers differ if they are rounded to float32 first")
END
