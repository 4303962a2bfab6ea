# SPDX-License-Identifier: Apache-2.0
# mc-bootstrap agrees with NumPy to the printed digits for the same random numbers (Philox in NumPy). With NumPy's own random
# numbers it agrees within the sampling error.
fixture lost

mc-bootstrap --seed 7 --resamples 500 --level .9 u.losses a.losses -o ours.tsv
mc-bootstrap --resamples 4000 u.losses a.losses -o other.tsv
/usr/bin/python3 "$MC_ROOT/tests/parity/bootstrap.py" u.losses a.losses ours.tsv other.tsv >output || die "$(cat output)"
cat output
expect_equal "$(sed 's/:.*//' output | paste -sd,)" 'rows,largest difference by the same draws,largest difference by other draws'
