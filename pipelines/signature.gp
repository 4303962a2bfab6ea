# SPDX-License-Identifier: Apache-2.0
#
# Mean correlation of matched units by layer, before the alignment (dashed, open) and after it. mc-plot
# defines before: SHARE, SCALE, TITLE, N, LABEL[1..N], ROWS, TABLES[1..N], LAYER[1..ROWS], STAGES (of many layers: those
# that follow each other and share the beginning of their name; else 0), STAGE[1..STAGES], FIRST[1..STAGES + 1] (their
# first rows, and ROWS + 1), and $DATA: N blocks of the columns identity, permuted, and their standard deviations over a
# line's TABLES (0 of one), a row a layer.

load SHARE.'/style.gp'
load SHARE.'/bands.gp'
array OPEN[7] = [6, 4, 8, 10, 12, 6, 4]

# the legend has a line's two ends once; room for the names of layers as they are long, in pixels of a picture 960 wide
longest = 0
if (STAGES) { do for [r = 1:STAGES] { longest = strlen(STAGE[r]) > longest ? strlen(STAGE[r]) : longest } } \
else { do for [r = 1:ROWS] { longest = strlen(LAYER[r]) > longest ? strlen(LAYER[r]) : longest } }
turned = STAGES || longest > 72 / ROWS
place = 100
do for [i = 1:N] { place = 100 + 11 * strlen(LABEL[i]) > place ? 100 + 11 * strlen(LABEL[i]) : place }
key_cols = N == 1 ? 2 : int(900 / place) < 1 ? 1 : int(900 / place)
key_rows = int(((N == 1 ? 2 : N) + key_cols - 1) / key_cols)
names = !turned ? 0.05 : 0.045 + 0.0135 * (longest > 24 ? 24 : longest)
top = TITLE eq '' ? 0.91 : 0.83
bottom = 0.05 + 0.05 * key_rows + names

set multiplot
unset key
set tmargin at screen top
set bmargin at screen bottom
set lmargin at screen 0.07
set rmargin at screen 0.97 - (turned ? 0.03 : 0)
if (TITLE ne '') { set label 1 TITLE at screen 0.5, 0.945 center font TITLE_FONT }
set label 2 'mean correlation'.SD.(N == 1 ? '' : '; dashed: before the alignment') at graph 0, 1.06 left
set xrange [0.5:ROWS + 0.5]
set yrange [*<0:1]
set xtics () rotate by (turned ? -40 : 0)
if (STAGES) {
    # lines between the stages, their names in the middle of each where there is room
    set grid noxtics
    last = -ROWS
    do for [r = 1:STAGES] {
        if (r > 1) { set arrow 10 + r from FIRST[r] - 0.5, graph 0 to FIRST[r] - 0.5, graph 1 nohead back lc rgb '#d0d0d0' lw 0.8 }
        middle = (FIRST[r] + FIRST[r + 1] - 1) / 2.0
        if (middle - last > ROWS / 36.0) { set xtics add (STAGE[r] middle); last = middle }
    }
} else {
    every = int((ROWS + 29) / 30)
    do for [r = 1:ROWS:every] { set xtics add (LAYER[r] r) }
}
# many points hide their lines
size = ROWS > 24 ? 12.0 / ROWS + 0.3 : 1
do for [i = 1:N] { set style line i ps 0.8 * SCALE * size }
plot for [i = 1:N] $DATA index i - 1 using ($0 + 1):(low(i, $1, $3)):(high(i, $1, $3)) with filledcurves @BAND, \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1):(low(i, $2, $4)):(high(i, $2, $4)) with filledcurves @BAND, \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1 + beside(i, ROWS)):(foot(i, $1, $3)):(0):(2 * $3) @BAR, \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1 + beside(i, ROWS)):(foot(i, $2, $4)):(0):(2 * $4) @BAR, \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1):1 with linespoints ls i dt 2 pt OPEN[(i - 1) % 7 + 1], \
     for [i = 1:N] $DATA index i - 1 using ($0 + 1):2 with linespoints ls i

# the legend: a plot of nothing under it
unset label 2
unset label 1
unset arrow
unset border
unset grid
unset tics
set lmargin at screen 0.03
set rmargin at screen 0.97
set bmargin at screen 0.01
set tmargin at screen 0.03 + 0.05 * key_rows
set xrange [0:1]
set yrange [0:1]
set key center center horizontal maxrows key_rows Left reverse samplen 4
if (N == 1) {
    plot $DATA index 0 using 1:(NaN) with linespoints ls 1 dt 2 pt OPEN[1] title 'before alignment', \
         $DATA index 0 using 1:(NaN) with linespoints ls 1 title 'after alignment'
} else {
    plot for [i = 1:N] $DATA index i - 1 using 1:(NaN) with linespoints ls i title LABEL[i]
}
unset multiplot
