# SPDX-License-Identifier: Apache-2.0
# Tables and logs without an accuracy, as mcz.torch writes for networks without labels, have one panel, the loss. Tables of one
# picture agree.
line() { printf "t\tdata.loss$1\n"'0\t%b\n.5\t%b\n1\t%b\n' "${@:2}"; }
line '' .5 1.5 .6 >a.tsv
line '' .5 .9 .6 >b.tsv
line '\tdata.accuracy' '.5\t50' '.9\t40' '.6\t50' >with.tsv
printf '{"event":"epoch","epoch":%d,"loss":%g}\n' 1 2.5 2 -.5 3 .1 >log.json
printf '{"event":"epoch","epoch":%d,"loss":%g,"accuracy":50}\n' 1 2.5 2 1 >with.json
mc-plot path a.tsv b.tsv -o path.svg
mc-plot path both=a.tsv,b.tsv --y-range 0:4 -o mean.svg
mc-plot path --log-loss a.tsv --fit b.tsv --size 8x6cm -o logarithmic.pdf
mc-plot log log.json -o log.svg
py <<'P'
from picture import *
for name, header, marks in ("path", "data loss", 3), ("mean", "data loss, mean ± sd, n = 2", 3), ("log", "loss", 3):
    p = Picture(name + ".svg")
    p.check_texts()
    texts = [t.replace("\xa0", " ").strip() for t in p.all_texts()]
    assert len(p.panels()) == 1 and header in texts and not any("accuracy" in t for t in texts), (name, texts)
    assert len(p.markers(FIRST, 0)) == marks, (name, p.markers(FIRST, 0))
assert max(v for v, _, _ in Picture("mean.svg").numbers("end")) == 4
P
fails 3 "b.tsv: column 'data.accuracy' is missing, but with.tsv has it" mc-plot path with.tsv b.tsv
fails 3 "a.tsv: column 'data.accuracy' is missing, but with.tsv has it" mc-plot path a.tsv,with.tsv
fails 3 "a.tsv: column 'data.accuracy' is missing, but with.tsv has it" mc-plot path with.tsv --fit a.tsv
fails 3 "log.json: column 'accuracy' is missing, but with.json has it" mc-plot log log.json with.json
fails 3 "log.json: JSON, not a table (draw a log with 'mc-plot log')" mc-plot path a.tsv log.json
fails 3 "unknown column 'test.loss'" mc-plot path --data test a.tsv
fails 2 "--y-range: one range expected for losses alone, got two" mc-plot path a.tsv --y-range 0:1,50:60
