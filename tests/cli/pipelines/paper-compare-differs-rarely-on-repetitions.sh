# SPDX-License-Identifier: Apache-2.0
# compare.py: 3 to 7% of 10,000 exact repetitions of the paper's cells differ. Each has three values, and the paper's are rounded
# as printed. True deviations are drawn from those that round to the printed ones. This holds for deviations printed as 0.0 and
# for the mean of a pair's ends too.
PYTHONPATH=$MC_ROOT/pipelines/paper:$PYTHONPATH py <<'END_OF_PY'
import cells
rng = np.random.default_rng(2020)

def draw(mean, sigma, sources):
    """The mean of the sources' three values, and half the root of the sum of their variances, as tables have it."""
    x = rng.normal(mean, sigma * sources ** .5, (sources, 3))
    return x.mean(), x.var(axis=1, ddof=1).sum() ** .5 / sources

def differs(mean, sigma, digits, sources, printed=None):
    ours = cells.Sample(*draw(mean, sigma, sources), 3, sources)
    while True:
        paper = ["%.*f" % (digits, v) for v in draw(mean, sigma, sources)]
        if printed in (None, paper[1]):
            break
    return cells.verdict(ours, cells.Sample(*map(float, paper), 3, sources), digits, 1)[0] == "differs"

paper = [c for c in cells.read(cells.HERE + "/paper.tsv")[1] if c["sd"]]
assert len(paper) == 117
differ = 0
for i in rng.integers(0, len(paper), 10000):
    c, digits = paper[i], int(paper[i]["digits"])
    half = 10.0 ** -digits / 2
    low = max(0, float(c["sd"]) - half)
    sigma = rng.uniform(low, float(c["sd"]) + half)
    differ += differs(float(c["mean"]), sigma, digits, cells.sample(c["column"], 0, "", 3).sources)
zero = sum(differs(92 + rng.uniform(), .04, 1, 1, "0.0") for _ in range(4000))
assert paper[0]["column"] == "ends"
ends = sum(differs(89., .15, 1, 2) for _ in range(4000))
print(differ, zero, ends)
assert 300 <= differ <= 700 and zero <= 280 and 100 <= ends <= 280
END_OF_PY
