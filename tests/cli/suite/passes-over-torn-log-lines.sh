# SPDX-License-Identifier: Apache-2.0
# What reads a log passes over a torn last line, and refuses one that is nothing else.
fixture logs
head -n 4 whole.json >4.json

{ cat 4.json; sed -n 5p whole.json | head -c 70; } >torn.json
cp 4.json same.json
mc-plot log x=torn.json -o torn.svg
mc-plot log x=same.json -o same.svg
same torn.svg same.svg
table() { awk -v network=n -v data=d -f "$MC_ROOT/pipelines/spread.awk" -f "$MC_ROOT/pipelines/training.awk" name=n "$1"; }
same <(table torn.json) <(table same.json)
printf '{"event":"epoch","ep' >torn.json
fails 3 "torn.json: is cut short" mc-plot log torn.json -o x.svg
