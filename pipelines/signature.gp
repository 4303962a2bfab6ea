# SPDX-License-Identifier: Apache-2.0
#
# Mean correlation of matched units by layer, before the alignment (dashed, open) and after it. mc-plot
# defines before: SHARE, SCALE, TITLE, N, LABEL[1..N], ROWS, TABLES[1..N], LAYER[1..ROWS], and $DATA: N blocks of the
# columns identity, permuted, and their standard deviations over a line's TABLES (0 of one), a row a layer.

load SHARE.'/style.gp'
load SHARE.'/bands.gp'
array OPEN[7] = [6, 4, 8, 10, 12, 6, 4]

if (TITLE ne '') { set title TITLE font TITLE_FONT }
set xrange [0.5:ROWS + 0.5]
set yrange [*<0:1]
set ylabel 'mean correlation'.SD
set xtics () rotate by (ROWS > 6 ? -40 : 0)
every = int((ROWS + 29) / 30)
do for [r = 1:ROWS:every] { set xtics add (LAYER[r] r) }
set key outside bottom center horizontal Left reverse samplen 4 width 2
# many lines: a column before, a column after
if (N > 2) { set key vertical maxrows N }
before(i) = N == 1 ? 'before alignment' : LABEL[i] . ', before'
after(i) = N == 1 ? 'after alignment' : LABEL[i] . ', after'
plot for [i = 1:N] $DATA index i - 1 using ($0 + 1):(low(i, $1, $3)):(high(i, $1, $3)) with filledcurves @BAND, \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1):(low(i, $2, $4)):(high(i, $2, $4)) with filledcurves @BAND, \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1):1 with linespoints \
        ls i dt 2 pt OPEN[(i - 1) % 7 + 1] title before(i), \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1):2 with linespoints ls i title after(i)
