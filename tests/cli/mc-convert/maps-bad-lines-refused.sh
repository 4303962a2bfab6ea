# SPDX-License-Identifier: Apache-2.0
# mc-convert refuses wrong maps with their line number.
fixture converted

refuses() { # TEXT MAP
    printf "$2" >bad.map
    fails 3 "$1" mc-convert a.mcz --to npz --map bad.map
}
refuses 'bad.map: line 2: two names expected' 'a b\nc\n'
refuses 'bad.map: line 1: both names*same number*stars' 'a*.b c\n'
refuses 'bad.map: line 1:*name*at most 8 stars' '********* *********\n'
refuses 'two names expected' 'a b c\n'
x=$(head -c 128 /dev/zero | tr '\0' x)
refuses 'bad.map: line 1:*name*at most 127 bytes' "$x a\n"
refuses 'bad.map: line 1:*name*at most 127 bytes' "a $x\n"
# `.` puts a name of 127 bytes and a dot in front, twice
refuses 'at most 255 bytes' "${x:1} .\n${x:2}y .\n"
printf 'a%d b\n' {1..4097} >many.map
fails 3 'many.map: line 4097: at most 4096 rules' mc-convert a.mcz --to npz --map many.map
refuses 'map*not round-trip: "layers.0.conv.weight" to "layers.0.conv.weight" to "dense.0.conv.weight"' 'layers dense\n'
head -c 3000 /dev/zero | tr '\0' x >long.map
fails 3 'long.map: line 1: line too long' mc-convert a.mcz --to npz --map long.map
fails 3 '/dev/null: not a regular file' mc-convert a.mcz --to npz --map /dev/null
fails 1 "cannot open 'no.map'" mc-convert a.mcz --to npz --map no.map
