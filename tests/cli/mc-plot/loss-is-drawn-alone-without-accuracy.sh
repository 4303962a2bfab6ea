# SPDX-License-Identifier: Apache-2.0
# Tables and logs without an accuracy, as mcz.torch writes for networks without labels, have one panel, the loss. Tables of one
# picture agree.
line() { printf "t\tdata.loss$1\n"'0\t%b\n.5\t%b\n1\t%b\n' "${@:2}"; }
line '' .5 1.5 .6 >a.tsv
line '' .5 .9 .6 >b.tsv
line '\tdata.accuracy' '.5\t50' '.9\t40' '.6\t50' >with.tsv
printf '{"event":"epoch","epoch":%d,"loss":%g}\n' 1 2.5 2 -.5 3 .1 >log.json
printf '{"event":"epoch","epoch":%d,"loss":%g,"accuracy":50}\n' 1 2.5 2 1 >with.json
mc-plot path --log-loss a.tsv --fit b.tsv --size 8x6cm -o logarithmic.pdf
py <<'P'
from picture import *

for arguments, note in ((["path", "a.tsv", "b.tsv"], ""), (["path", "both=a.tsv,b.tsv"], "mean ± sd, n = 2"), (["log", "log.json"], "")):
    p = Picture(*arguments)
    p.check_texts()
    panel, = p.panels
    assert (panel.title, p.note) == ("data loss" if arguments[0] == "path" else "training loss", note), (panel.title, p.note)
    assert len(panel.lines[0].marked) == 3 and not any("accuracy" in t for t in p.all_texts()), p.all_texts()
assert max(v for v, _ in numbers(Picture("path", "a.tsv", "--y-range", "0:4").panels[0].y)) == 4
P
fails 3 "b.tsv: column 'data.accuracy' is missing, but with.tsv has it" mc-plot path with.tsv b.tsv
fails 3 "a.tsv: column 'data.accuracy' is missing, but with.tsv has it" mc-plot path a.tsv,with.tsv
fails 3 "a.tsv: column 'data.accuracy' is missing, but with.tsv has it" mc-plot path with.tsv --fit a.tsv
fails 3 "log.json: column 'accuracy' is missing, but with.json has it" mc-plot log log.json with.json
fails 3 "log.json: JSON, not a table (draw a log with 'mc-plot log')" mc-plot path a.tsv log.json
fails 3 "unknown column 'test.loss'" mc-plot path --data test a.tsv
usage_error "--y-range: one range expected for losses alone, got two" mc-plot path a.tsv --y-range 0:1,50:60
