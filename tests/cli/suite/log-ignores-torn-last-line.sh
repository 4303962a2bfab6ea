# SPDX-License-Identifier: Apache-2.0
# Readers of a log ignore a torn last line, and refuse a log that has no other line. The last line may lack its newline.
fixture logs
head -n 4 whole.json >4.json

{ cat 4.json; sed -n 5p whole.json | head -c 70; } >torn.json
cp 4.json same.json
mc-plot log x=torn.json -o torn.svg
mc-plot log x=same.json -o same.svg
same torn.svg same.svg
tables training same.json | sed 's/same/torn/' | same - <(tables training torn.json)
head -c -1 4.json >same.json
mc-plot log x=same.json -o cut.svg
same torn.svg cut.svg
printf '{"event":"epoch","ep' >torn.json
fails 3 "torn.json: truncated" mc-plot log torn.json -o x.svg
