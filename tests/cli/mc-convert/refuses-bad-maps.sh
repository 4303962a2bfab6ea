# SPDX-License-Identifier: Apache-2.0
# mc-convert: maps that cannot be are told with their line.
fixture converted

map() { # what it says, the map
    printf "$2" >bad.map
    fails 3 "$1" mc-convert a.mcz --to npz --map bad.map
}
map 'bad.map: line 2: not two names' 'a b\nc\n'
map 'bad.map: line 1: not as many stars' 'a*.b c\n'
map 'bad.map: line 1: over 8 stars' '********* *********\n'
map 'not two names' 'a b c\n'
map 'the map makes "other.0.conv.weight" of "layers.0.conv.weight", but "dense.0.conv.weight" of that' 'other dense\nother layers\n'
head -c 3000 /dev/zero | tr '\0' x >long.map
fails 3 'long.map: line 1: too long' mc-convert a.mcz --to npz --map long.map
fails 3 '/dev/null: is no regular file' mc-convert a.mcz --to npz --map /dev/null
fails 1 "cannot open 'no.map'" mc-convert a.mcz --to npz --map no.map
