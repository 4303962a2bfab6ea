# SPDX-License-Identifier: Apache-2.0
# mc-hungarian and mc-info --check refuse matrices with values outside their measure's range. The limits of the range are
# allowed, and a user's own measure has no range.
py <<'END'
def put(file, measure, value):
    a = np.full((3, 3), value[0])
    a[1, 2] = value[1]
    groups = [{"name": "g", "size": 3, "taps": 1, "dead_a": [], "dead_b": []}]
    mcz.write(file + ".mcz", "matrices", {"measure": measure, "at": "post", "groups": groups}, {"g": a})
put("ends", "correlation", (-1., 1.))
put("above", "correlation", (.5, 1.5))
put("below", "correlation", (.5, np.nextafter(-1, -2)))
put("zero", "l2", (-1e300, 0.))
put("positive", "l2", (-1., 1e-300))
put("own", "score", (-7., 1e9))
END
for f in ends zero own; do
    mc-hungarian -q $f.mcz >p.mcz
    mc-info -q --check $f.mcz p.mcz
done
refuses() {
    fails 3 "$1.mcz: \"g\" holds $2" mc-hungarian -q $1.mcz
    fails 3 "$1.mcz: \"g\" holds $2" mc-info -q --check $1.mcz
}
refuses above '1.5 (a correlation is from -1 to 1)'
refuses below '-1 (a correlation is from -1 to 1)'
refuses positive '1e-300 (l2 is a negative squared distance, at most 0)'
fails 3 'above.mcz: "g" holds 1.5' mc-hungarian -q --constraint above.mcz ends.mcz
