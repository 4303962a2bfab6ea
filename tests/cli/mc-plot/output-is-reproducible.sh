# SPDX-License-Identifier: Apache-2.0
# mc-plot writes the same bytes at any time and with any user settings.
fixture tables

mc-plot path line.tsv curve.tsv --format png >one.png
mc-plot path line.tsv curve.tsv --format png -o - | same one.png -
mc-plot path line.tsv curve.tsv --format pdf >one.pdf
sleep 1.1 # the picture does not contain the time
mc-plot path line.tsv curve.tsv --format pdf | same one.pdf -
mc-plot path <line.tsv | grep -q '<svg'
mc-plot path stdin=line.tsv -o - | grep -q '<svg'
mkdir home
echo 'set terminal dumb; set output "elsewhere"' >home/.gnuplot
HOME=$PWD/home mc-plot path line.tsv curve.tsv --format png | same one.png -
