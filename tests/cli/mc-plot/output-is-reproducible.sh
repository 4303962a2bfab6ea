# SPDX-License-Identifier: Apache-2.0
# mc-plot gives the same bytes twice, whenever and by whatever settings of the user's.
fixture tables

mc-plot path line.tsv curve.tsv --format png >one.png
mc-plot path line.tsv curve.tsv --format png -o - | same one.png -
mc-plot path line.tsv curve.tsv --format pdf >one.pdf
sleep 1.1 # the time of day is not in it
mc-plot path line.tsv curve.tsv --format pdf | same one.pdf -
mc-plot path <line.tsv | grep -q '<svg'
mc-plot path stdin=line.tsv -o - | grep -q '<svg'
mkdir home
echo 'set terminal dumb; set output "elsewhere"' >home/.gnuplot
HOME=$PWD/home mc-plot path line.tsv curve.tsv --format png | same one.png -
