# SPDX-License-Identifier: Apache-2.0
#
# Loss and accuracy side by side on a plane, with the networks and the path in it. mc-plot lays it out and defines:
#   SHARE, SCALE, FONT (its size), EM_X, EM_Y (as shares of the picture)
#   TITLE, TITLE_SIZE, TITLE_Y, HEADER_Y; X_NAME, X_NAME_Y, X_NUMBERS, X_FROM, X_TO, the same for Y; HEIGHT of a panel
#   in ems; for loss and accuracy LEFT, RIGHT, TOP, BOTTOM, HEADER; STEP of the colours, FIRST and LAST in steps, NUMBERS
#   MARKS (1 if there are marks), NAME[1..3], WIDTH (in panel widths), X, Y of the networks; PATH (number of points)
#   $PATH: x y of the path, or of the straight lines from the first network (NaN for neither)
#   $DATA: rows x, y, loss, accuracy (%), a blank line after each y

load SHARE.'/style.gp'

# bright is good: viridis for accuracies, reversed for losses
viridis = "0 '#440154', 1 '#482878', 2 '#3e4a89', 3 '#31688e', 4 '#26828e', 5 '#1f9e89', 6 '#35b779', 7 '#6ece58', 8 '#b5de2b', 9 '#fde725'"
reverse = "0 '#fde725', 1 '#b5de2b', 2 '#6ece58', 3 '#35b779', 4 '#1f9e89', 5 '#26828e', 6 '#31688e', 7 '#3e4a89', 8 '#482878', 9 '#440154'"

# A name is above its point so that it hides neither point nor border. It is below the point at the upper border, or if it
# would hide the name of a network that is higher or earlier.
across(i) = 1.0 * (X[i] - X_FROM) / (X_TO - X_FROM)
high(i) = 1.0 * (Y[i] - Y_FROM) / (Y_TO - Y_FROM)
left(i) = across(i) - (across(i) > 0.75 ? WIDTH[i] : across(i) < 0.25 ? 0 : WIDTH[i] / 2)
clash(i, j) = j != i && left(i) < left(j) + WIDTH[j] && left(j) < left(i) + WIDTH[i] && \
    abs(high(i) - high(j)) < 1.5 / HEIGHT && (Y[i] < Y[j] || (Y[i] == Y[j] && j < i))
up(i) = high(i) > 1 - 2 / HEIGHT || clash(i, 1) || clash(i, 2) || clash(i, 3) ? -1.2 : 1.2

# Draw a value as the middle of its colour step: the palette's own edges are a percent off. A plateau at an edge counts
# to the step above whatever its last bit, so that the contour line runs around it.
EDGE = 1e-6
stepped(n) = (n < first ? first : n > last - 1 ? last - 1 : n) * step + step / 2.0
centre(v) = stepped(floor(v / step + EDGE))

set multiplot
unset key
unset grid
unset colorbox
set border 15 lc rgb '#404040' lw 1
set tics front scale 0.5
set xtics offset 0, screen 0.6 * EM_Y
set ytics offset screen 0.3 * EM_X, 0
set cbtics offset screen -0.3 * EM_X, 0
eval 'set xtics ('.X_NUMBERS.')'
eval 'set ytics ('.Y_NUMBERS.')'
set xrange [X_FROM:X_TO]
set yrange [Y_FROM:Y_TO]
set style textbox opaque noborder fillcolor rgb '#30ffffff' margins 0.6, 0.3
do for [i = 1:3 * MARKS] {
    if (across(i) > 0.75) { set label 10 + i NAME[i] at X[i], Y[i] offset 0.4, up(i) right boxed front }
    else { if (across(i) < 0.25) { set label 10 + i NAME[i] at X[i], Y[i] offset -0.4, up(i) left boxed front }
           else { set label 10 + i NAME[i] at X[i], Y[i] offset 0, up(i) center boxed front } }
}
if (TITLE ne '') { set label 1 TITLE at screen 0.5, screen TITLE_Y center font sprintf(',%.3g', FONT * TITLE_SIZE) }
set style line 40 lc rgb '#000000' lw 2 dt 1
if (!PATH) { set style line 40 dt 2 lw 1.5 }
do for [q = 1:2] {
    set lmargin at screen LEFT[q]
    set rmargin at screen RIGHT[q]
    set tmargin at screen TOP[q]
    set bmargin at screen BOTTOM[q]
    set label 2 HEADER[q] at screen LEFT[q], screen TOP[q] + HEADER_Y left
    set label 3 X_NAME at screen (LEFT[q] + RIGHT[q]) / 2, screen BOTTOM[q] - X_NAME_Y center
    set label 4 Y_NAME at screen LEFT[q] - Y_NAME_X, screen (TOP[q] + BOTTOM[q]) / 2 center rotate by 90
    step = STEP[q]
    first = FIRST[q]
    last = LAST[q]
    if (q == 1) { set palette defined (@reverse) maxcolors last - first } \
    else { set palette defined (@viridis) maxcolors last - first }
    set cbrange [first * step:last * step]
    set colorbox user origin screen RIGHT[q] + 0.6 * EM_X, screen BOTTOM[q] size screen EM_X, screen TOP[q] - BOTTOM[q]
    eval 'set cbtics ('.NUMBERS[q].')'
    # contour lines where colours change
    set contour base
    set cntrparam linear levels incremental (first + 1 - EDGE) * step, step, (last - 1) * step
    unset surface
    set table $LEVELS
    splot $DATA using 1:2:(column(q + 2))
    unset table
    set surface
    unset contour
    plot $DATA using 1:2:(centre(column(q + 2))) with image, \
         $LEVELS using 1:2 with lines lc rgb '#90000000' lw 0.6, \
         $PATH using 1:2 with lines lc rgb '#ffffff' lw 4.5, \
         $PATH using 1:2 with lines ls 40, \
         for [i = 1:3] '+' using (X[i]):(Y[i]) every ::0::0 with points pt 7 ps 1.5 * SCALE lc rgb '#ffffff', \
         for [i = 1:3] '+' using (X[i]):(Y[i]) every ::0::0 with points pt 7 ps 1.0 * SCALE lc rgb '#000000'
    unset label 1
}
unset multiplot
