# SPDX-License-Identifier: Apache-2.0
#
# Loss and accuracy side by side on a plane, with the networks and the path in it. mc-plot defines before:
# SHARE, SCALE, ASPECT (width to height), TITLE, DATA_NAME (may be empty), FROM[1..2], TO[1..2] (of the colours of loss and accuracy; both 0:
# all), MARKS (whether there are), NAME[1..3], X[1..3], Y[1..3] of the networks, PATH (points of it), $PATH: x y of
# the path, else of the straight lines from the first network (NaN where there is nothing); and
# $DATA: rows x, y, loss, accuracy (%), a blank line between those of different y.

load SHARE.'/style.gp'

# bright is good: viridis, and for losses the other way round
viridis = "0 '#440154', 1 '#482878', 2 '#3e4a89', 3 '#31688e', 4 '#26828e', 5 '#1f9e89', 6 '#35b779', 7 '#6ece58', 8 '#b5de2b', 9 '#fde725'"
reverse = "0 '#fde725', 1 '#b5de2b', 2 '#6ece58', 3 '#35b779', 4 '#1f9e89', 5 '#26828e', 6 '#31688e', 7 '#3e4a89', 8 '#482878', 9 '#440154'"

stats $DATA using 1 name 'AX' nooutput
stats $DATA using 2 name 'AY' nooutput
array LOW[2]
array HIGH[2]
do for [q = 1:2] {
    stats $DATA using q + 2 name 'AV' nooutput
    given = FROM[q] != TO[q]
    LOW[q] = 1.0 * (given ? FROM[q] : AV_min)
    HIGH[q] = 1.0 * (given ? TO[q] : AV_max)
    # what varies by less than a thousandth is flat, a step or two: nobody could read finer ones' numbers
    least = abs(HIGH[q]) > 1e-3 ? 1e-3 * abs(HIGH[q]) : 1e-6
    if (!given && HIGH[q] - LOW[q] < least) {
        LOW[q] = (LOW[q] + HIGH[q] - least) / 2
        if (LOW[q] < 0) { LOW[q] = 0 }
        if (q == 2 && LOW[q] + least > 100) { LOW[q] = 100 - least }
        HIGH[q] = LOW[q] + least
    }
}

# distances are to scale unless that leaves a sliver; what height is not needed is left above and below
shape = (AY_max - AY_min) / (AX_max - AX_min)
to_scale = shape > 0.4 && shape < 2
room = TITLE eq '' ? 0.74 : 0.66
width = 0.325
height = to_scale ? width * ASPECT * shape : room
if (height > room) { width = width * room / height; height = room }
bottom = 0.16 + (room - height) / 2
top = bottom + height

# a name stands where it hides neither its point nor the border
across(i) = (X[i] - AX_min) / (AX_max - AX_min)
# above it, but below at the upper border, and where another's name would be hidden by it, which is above or comes before
high(i) = (Y[i] - AY_min) / (AY_max - AY_min)
wide(i) = 0.03 + 0.026 * strlen(NAME[i])
begins(i) = across(i) - (across(i) > 0.75 ? wide(i) : across(i) < 0.25 ? 0 : wide(i) / 2)
clash(i, j) = j != i && begins(i) < begins(j) + wide(j) && begins(j) < begins(i) + wide(i) && \
    abs(high(i) - high(j)) < 0.07 / height && (Y[i] < Y[j] || (Y[i] == Y[j] && j < i))
up(i) = high(i) > 0.85 || clash(i, 1) || clash(i, 2) || clash(i, 3) ? -1.2 : 1.2
x_name = MARKS && strlen(NAME[1]) + strlen(NAME[2]) < 30 ? \
    sprintf('distance from %s towards %s', NAME[1], NAME[2]) : 'distance from the first network towards the second'

# a step of 1, 2 or 5 in some place that cuts the range into 6 to 15
nice(range) = (e = 10 ** floor(log10(range / 6)), m = range / 6 / e, m < 2 ? e : m < 5 ? 2 * e : 5 * e)

# numbers up to `most` with as many digits as tell steps apart, and no more
place(x) = int(floor(log10(x) + 1e-9))
numbers(most, step) = most < 1e-3 || most >= 1e6 ? sprintf('%%.%dg', place(most) - place(step) + 1) : \
    sprintf('%%.%df', place(step) < 0 ? -place(step) : 0)

# A value as the middle of its step: the palette's own edges are a per cent off. A plateau at an edge is
# in the step above, whatever its last bit, and the line that parts them runs around it, not all over it.
EDGE = 1e-6
stepped(n) = (n < first ? first : n > last - 1 ? last - 1 : n) * step + step / 2.0
centre(v) = stepped(floor(v / step + EDGE))

set multiplot
unset key
unset grid
set border 15 lc rgb '#404040' lw 1
set tics front
set xlabel x_name offset 0, 0.4
set ylabel (to_scale ? 'distance from their line' : 'distance from their line (another scale)') offset 1.2, 0
set xrange [AX_min:AX_max]
set yrange [AY_min:AY_max]
set tmargin at screen top
set bmargin at screen bottom
set style textbox opaque noborder fillcolor rgb '#30ffffff' margins 0.6, 0.3
do for [i = 1:3 * MARKS] {
    if (across(i) > 0.75) { set label 10 + i NAME[i] at X[i], Y[i] offset 0.4, up(i) right boxed front }
    else { if (across(i) < 0.25) { set label 10 + i NAME[i] at X[i], Y[i] offset -0.4, up(i) left boxed front }
           else { set label 10 + i NAME[i] at X[i], Y[i] offset 0, up(i) center boxed front } }
}
if (TITLE ne '') { set label 1 TITLE at screen 0.5, top + 0.135 center font TITLE_FONT }
set style line 40 lc rgb '#000000' lw 2 dt 1
if (!PATH) { set style line 40 dt 2 lw 1.5 }
do for [q = 1:2] {
    left = (q == 1 ? 0.085 : 0.565) + (0.325 - width) / 2
    set lmargin at screen left
    set rmargin at screen left + width
    set label 2 DATA_NAME . (q == 1 ? 'loss' : 'accuracy (%)') at graph 0, screen top + 0.04 left
    step = nice(HIGH[q] - LOW[q])
    first = floor(LOW[q] / step + 1e-9)
    last = ceil(HIGH[q] / step - 1e-9)
    if (q == 1) { set palette defined (@reverse) maxcolors last - first } \
    else { set palette defined (@viridis) maxcolors last - first }
    set cbrange [first * step:last * step]
    set cbtics step * ceil((last - first) * 0.04 / height) # where there is little height, not at each step
    set format cb numbers(last * step, step)
    # where colours change, drawn as lines
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
    unset ylabel # which the right one shares
}
unset multiplot
