# SPDX-License-Identifier: Apache-2.0
# mc-eval --plane measures the networks and their lines at the positions that NumPy computes, and marks these.
fixture three
data="--data d.mcz --data held=test.mcz --bn-data d.mcz -t 2"

mc-bezier -q --epochs 0 --control-points 0 n1.mcz n2.mcz -o short.mcz
# a grid through the first two networks: the same figures as mc-eval with the same statistics
mc-eval --plane --grid 3 --x-range 0:1 --y-range=0:1 $data n1.mcz n2.mcz n3.mcz --marks marks.tsv -o plane.tsv 2>err
grep -q '^mc-eval: 9 points, 9 at a time: [0-9.]* MiB$' err
[ "$(head -n 1 plane.tsv)" = "$(printf 'x\ty\ttrain.loss\ttrain.accuracy\theld.loss\theld.accuracy')" ]
mc-eval $data n1.mcz n2.mcz >nets.tsv
same <(sed -n '2p;4p' plane.tsv | cut -f 3-) <(sed 1d nets.tsv | cut -f 2-)
# a line through two networks is a row of the plane
mc-eval --points 3 $data short.mcz | sed 1d | cut -f 2- | same - <(sed -n '2,4p' plane.tsv | cut -f 3-)
# the third network's height is that of the last row
py <<'END'
def flat(name):
    n = mcz.read(name)
    return np.concatenate([t.ravel() for k, t in n.tensors.items() if "running" not in k]).astype(float)

a, b, c = (flat("n%d.mcz" % i) for i in (1, 2, 3))
u = b - a
length = np.linalg.norm(u)
u /= length
x = (c - a) @ u
y = np.linalg.norm(c - a - x * u)
rows = [l.rstrip("\n").split("\t") for l in open("marks.tsv")]
assert rows[0] == ["mark", "name", "x", "y", "off"], rows
want = [(0, 0), (length, 0), (x, y)]
assert [r[:2] for r in rows[1:]] == [["network", "n%d.mcz" % i] for i in (1, 2, 3)]
for r, w in zip(rows[1:], want):
    assert abs(float(r[2]) - w[0]) < 1e-6 * length and abs(float(r[3]) - w[1]) < 1e-6 * length, (r, w)
    assert abs(float(r[4])) < 1e-6 * length
grid = [[float(v) for v in l.split("\t")] for l in list(open("plane.tsv"))[1:]]
for i, g in enumerate(grid):
    assert abs(g[0] - i % 3 * length / 2) < 1e-6 * length and abs(g[1] - i // 3 * y / 2) < 1e-6 * length, g
END
# the third network itself, at a corner of the grid
range=$(awk '$2 == "n2.mcz" { b = $3 } $2 == "n3.mcz" { printf "%.17g:%.17g", $3 / b, $3 / b + 1 }' marks.tsv)
mc-eval -q --plane --grid 2 --x-range="$range" --y-range 0:1 $data n1.mcz n2.mcz n3.mcz | sed -n 4p | cut -f 3- >third
mc-eval $data n3.mcz | sed -n 2p | cut -f 2- | paste third - |
    awk '{ d = ($1 - $5) / $5; e = ($3 - $7) / $7; if (d * d > 1e-8 || e * e > 1e-8) exit 1 }' ||
    die 'the third network is at another position'
mc-eval -q --plane --grid 2 $data - n2.mcz n3.mcz --marks marks.tsv <n1.mcz >x.tsv
expect_equal "$(column marks.tsv name | head -n 1)" stdin
