# SPDX-License-Identifier: Apache-2.0
#
# Loss and accuracy side by side, along a curve's t or a training's epochs. mc-plot defines before:
# SHARE, SCALE, TITLE, XLABEL, DATA_NAME (may be empty), LOG_LOSS (whether its axis is logarithmic), N, LABEL[1..N], TABLES[1..N], SAME[1..N], how many lines
# before this one lie where it does, and $DATA: N blocks of the columns x, loss, accuracy (%), and the three
# standard deviations over a line's TABLES (0 of one).

load SHARE.'/style.gp'
load SHARE.'/bands.gp'

# what would hide another line is dashed, with smaller points, so that both are seen; a third one shorter
do for [i = 1:N] {
    if (SAME[i]) {
        on = 16. / 2 ** (SAME[i] - 1)
        set style line i dt (on, 32 - on) ps 0.8 * SCALE * 0.6 ** SAME[i]
    }
}

# rows of the legend: a place in it takes about as much as this, in pixels of a picture 960 wide
place = 90
do for [i = 1:N] { place = 90 + 11 * strlen(LABEL[i]) > place ? 90 + 11 * strlen(LABEL[i]) : place }
key_cols = int(900 / place) < 1 ? 1 : int(900 / place)
key_rows = int((N + key_cols - 1) / key_cols)
bottom = 0.17 + 0.06 * key_rows
top = TITLE eq '' ? 0.91 : 0.83
x_min = 1e300
x_max = -1e300
array STEP[N]
do for [i = 1:N] {
    stats $DATA index i - 1 using 1 nooutput
    x_min = STATS_min < x_min ? STATS_min : x_min
    x_max = STATS_max > x_max ? STATS_max : x_max
    # a mark on every tenth or so, so that many points stay a line
    STEP[i] = STATS_records > 21 ? int(STATS_records / 10) : STATS_records > 11 ? 2 : 1
}
if (x_min == x_max) { x_min = x_min - 0.5; x_max = x_max + 0.5 }

set multiplot
unset key
set xlabel XLABEL offset 0, 0.4
room = beside(N, x_max - x_min) * 1.2
set xrange [x_min - room:x_max + room]
if (XLABEL eq 'epoch' && x_max - x_min <= 12) { set xtics 1 }
set tmargin at screen top
set bmargin at screen bottom
if (TITLE ne '') { set label 1 TITLE at screen 0.5, 0.945 center font TITLE_FONT }

set lmargin at screen LOG_LOSS ? 0.08 : 0.07
set rmargin at screen 0.48
set label 2 DATA_NAME.'loss'.SPREAD at graph 0, 1.06 left
set yrange [0:*]
if (LOG_LOSS) {
    # numbers at 1, 2 and 5 of each decade; within one, at steps as of a linear axis
    y_min = 1e300
    y_max = 1e-300
    do for [i = 1:N] {
        stats $DATA index i - 1 using ($2 > 0 ? $2 : NaN) nooutput
        y_min = STATS_min < y_min ? STATS_min : y_min
        y_max = STATS_max > y_max ? STATS_max : y_max
    }
    set logscale y
    set yrange [*:*] noextend
    set ytics ()
    if (y_max / y_min > 8) {
        do for [e = floor(log10(y_min)):ceil(log10(y_max))] { do for [d in '1 2 5'] { set ytics add (d * 10.0 ** e) } }
    } else {
        e = 10 ** floor(log10(y_max))
        step = e * (y_max - y_min > 2 * e ? 1 : y_max - y_min > 0.8 * e ? 0.5 : y_max - y_min > 0.3 * e ? 0.2 : 0.05)
        do for [d = floor(y_min / step):ceil(y_max / step)] { if (d > 0) { set ytics add (d * step) } }
    }
}
plot for [i = 1:N] $DATA index i - 1 using 1:(low(i, $2, $5)):(high(i, $2, $5)) with filledcurves @BAND, \
     for [i = 1:N] $DATA index i - 1 using ($1 + beside(i, x_max - x_min)):(foot(i, $2, $5)):(0):(2 * $5) every STEP[i] @BAR, \
     for [i = 1:N] $DATA index i - 1 using 1:2 with linespoints ls i pi STEP[i]

unset label 1
unset logscale y
set ytics autofreq
set lmargin at screen 0.56
set rmargin at screen 0.97
set label 2 DATA_NAME.'accuracy (%)'.(strlen(DATA_NAME.SPREAD) > 24 ? '' : SPREAD) # as the other's
set yrange [0<*:*<100]
set offsets 0, 0, graph 0.05, graph 0.05
plot for [i = 1:N] $DATA index i - 1 using 1:(low(i, $3, $6)):(high(i, $3, $6)) with filledcurves @BAND, \
     for [i = 1:N] $DATA index i - 1 using ($1 + beside(i, x_max - x_min)):(foot(i, $3, $6)):(0):(2 * $6) every STEP[i] @BAR, \
     for [i = 1:N] $DATA index i - 1 using 1:3 with linespoints ls i pi STEP[i]

# the legend: a plot of nothing under both
unset label 2
unset offsets
unset border
unset grid
unset tics
unset xlabel
set lmargin at screen 0.03
set rmargin at screen 0.97
set bmargin at screen 0.01
set tmargin at screen 0.03 + 0.06 * key_rows
set xrange [0:1]
set yrange [0:1]
set key center center horizontal maxrows key_rows Left reverse samplen 3
plot for [i = 1:N] $DATA index i - 1 using 1:(NaN) with linespoints ls i title LABEL[i]
unset multiplot
