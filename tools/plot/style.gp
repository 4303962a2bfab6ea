# SPDX-License-Identifier: Apache-2.0
#
# Style of all pictures. The colours are Okabe and Ito's, distinguishable with every type of colour vision. Points and,
# from the eighth line on, dashes distinguish the lines without colour.

array COLOUR[7] = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000']
array POINT[7] = [7, 5, 9, 11, 13, 6, 4]
do for [i = 1:32] {
    set style line i lc rgb COLOUR[(i - 1) % 7 + 1] pt POINT[(i - 1) % 7 + 1] \
        ps 0.8 * SCALE lw 2 dt 1 + (i - 1) / 7
}
set border 3 lc rgb '#404040' lw 1
set tics nomirror out textcolor rgb '#202020'
set grid back lt 1 lc rgb '#e0e0e0' lw 0.8
set key noautotitle
