# SPDX-License-Identifier: Apache-2.0
# Robust accuracy falls from the clean one as the radius of mc-pgd grows, up to two standard errors.
fixture examples

robust() { $p -q "$@" 1.mcz | mc-eval -t 1 --data - 1.mcz | tail -n 1 | cut -f 3; }
for eps in 0 2/255 4/255 8/255 16/255; do
    echo "$(robust --eps $eps --steps 10)"
done >accuracies
mc-eval -t 1 --data test.mcz 1.mcz | tail -n 1 | cut -f 3 >clean
same clean <(head -n 1 accuracies)
awk -v n=$test '!/^[0-9.]+$/ { print "not an accuracy: " $0; exit 1 }
    { q = $1 / 100; v = q * (1 - q) / n
    if (NR > 1 && q - p > 2 * sqrt(v + w)) { print "rises to " $1; exit 1 }
    p = q; w = v; if (NR == 1) { q1 = q; v1 = v } }
    END { if (NR != 5 || q1 - p <= 2 * sqrt(v1 + w)) { print "does not fall"; exit 1 } }' accuracies || die 'robust accuracy'
