# SPDX-License-Identifier: Apache-2.0
#
# Panels of lines with a legend below: loss and accuracy along a curve's t or a training's epochs, or a
# signature's correlation by layer. mc-plot lays them out and defines:
#   SHARE, SCALE, FONT (its size), EM_X, EM_Y (as shares of the picture)
#   TITLE, TITLE_SIZE, TITLE_Y; X_NAME; SPREAD, SPREAD_Y: a line above the legend
#   PANELS, and per panel LEFT, RIGHT, TOP, BOTTOM, HEADER, FROM, TO, LOGARITHMIC, ZERO (position of zeros on a
#   logarithmic axis, or 0), NUMBERS (along its axis); HEADER_Y above and X_NAME_Y below each panel
#   X_FROM, X_TO, NAMES, NAME, AT (along x), SLANTED; STAGES, BEGIN (stages of a signature with many layers)
#   N series, SAME (number of equal series before it); KEYS, KEY, KEY_LINE, KEY_BEFORE, KEY_X, KEY_Y, KEY_SAMPLE
#   LINES per panel, SERIES, BEFORE (dashed, open markers)
#   $DATA: a block per panel and line: x, y, band from and to, marker, bar from and to; blank lines at gaps
#   $EXITS: panel, series, x, 1 above or -1 below: where a line leaves the frame

load SHARE.'/style.gp'
array OPEN[7] = [6, 4, 8, 10, 12, 6, 4]

# a line that would hide an equal one is dashed, with smaller points; a third one has shorter dashes
size = NAMES && X_NAME eq '' && X_TO - X_FROM > 24 ? 12.0 / (X_TO - X_FROM) + 0.3 : 1
do for [i = 1:N] {
    set style line i ps 0.8 * SCALE * size
    if (SAME[i]) {
        on = 16. / 2 ** (SAME[i] - 1)
        set style line i dt (on, 32 - on) ps 0.8 * SCALE * size * 0.6 ** SAME[i]
    }
}
do for [i = 1:N] {
    set style line 100 + i lc rgb COLOUR[(i - 1) % 7 + 1] lw 2 dt 2 pt OPEN[(i - 1) % 7 + 1] ps 0.8 * SCALE * size
}
style(i) = SERIES[i] + (BEFORE[i] ? 100 : 0)

# an arrow to the edge where a line leaves the frame
edge(p, up) = up > 0 ? TO[p] : FROM[p]
inside(p, up) = LOGARITHMIC[p] ? edge(p, up) * (1.0 * FROM[p] / TO[p]) ** (0.08 * up) : edge(p, up) - 0.08 * up * (TO[p] - FROM[p])

set multiplot
unset key
if (TITLE ne '') { set label 1 TITLE at screen 0.5, screen TITLE_Y center font sprintf(',%.3g', FONT * TITLE_SIZE) }
if (SPREAD ne '') { set label 2 SPREAD at screen 0.5, screen SPREAD_Y center }
do for [i = 1:KEYS] {
    s = KEY_LINE[i] + (KEY_BEFORE[i] ? 100 : 0)
    set arrow i from screen KEY_X[i], screen KEY_Y[i] to screen KEY_X[i] + KEY_SAMPLE, screen KEY_Y[i] nohead ls s
    set label 10 + i '' at screen KEY_X[i] + KEY_SAMPLE / 2, screen KEY_Y[i] point ls s
    set label 50 + i KEY[i] at screen KEY_X[i] + KEY_SAMPLE * 1.15, screen KEY_Y[i] left
}
set tics scale 0.5
set xtics offset 0, screen (SLANTED ? 0.2 : 0.6) * EM_Y
set ytics offset screen 0.3 * EM_X, 0
set xrange [X_FROM:X_TO]
set xtics () rotate by (SLANTED ? -40 : 0)
do for [i = 1:NAMES] { set xtics add (NAME[i] AT[i]) }
if (STAGES) {
    set grid noxtics
    do for [i = 2:STAGES] {
        set arrow 100 + i from BEGIN[i], graph 0 to BEGIN[i], graph 1 nohead back lc rgb '#d0d0d0' lw 0.8
    }
}
do for [p = 1:PANELS] {
    set lmargin at screen LEFT[p]
    set rmargin at screen RIGHT[p]
    set tmargin at screen TOP[p]
    set bmargin at screen BOTTOM[p]
    if (X_NAME ne '') { set label 4 X_NAME at screen (LEFT[p] + RIGHT[p]) / 2, screen BOTTOM[p] - X_NAME_Y center }
    set label 3 HEADER[p] at screen LEFT[p], screen TOP[p] + HEADER_Y left
    unset logscale y
    set yrange [FROM[p]:TO[p]]
    if (LOGARITHMIC[p]) { set logscale y }
    eval 'set ytics ('.NUMBERS[p].')'
    if (ZERO[p]) { set arrow 99 from X_FROM, ZERO[p] to X_TO, ZERO[p] nohead back lc rgb '#404040' dt 3 } else { unset arrow 99 }
    first = (p - 1) * LINES - 1
    plot for [i = 1:LINES] $DATA index first + i using 1:3:4 with filledcurves ls SERIES[i] fs transparent solid 0.18 noborder, \
         for [i = 1:LINES] $DATA index first + i using 1:6:(0):($7 - $6) with vectors nohead ls SERIES[i] lw 1.2 dt 1, \
         for [i = 1:LINES] $DATA index first + i using 1:2 with lines ls style(i), \
         for [i = 1:LINES] $DATA index first + i using 1:5 with points ls style(i), \
         for [i = 1:N] $EXITS using ($1 == p && $2 == i ? $3 : NaN):(inside(p, $4)):(0):(edge(p, $4) - inside(p, $4)) \
             with vectors head filled size screen 0.7 * EM_X, 20 ls i dt 1
# the legend and title are drawn with the first panel only
    do for [i = 1:KEYS] { unset arrow i; unset label 10 + i; unset label 50 + i }
    unset label 1
    unset label 2
}
unset multiplot
