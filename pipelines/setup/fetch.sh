#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A data set from its publisher, checked and unpacked where mc-data reads it.
set -u
. "$(dirname "$(readlink -f "$0")")/../include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: fetch.sh [-u URL] SET DEST
Fetch a data set from its publisher into the folder DEST, check it, unpack it.

  -u URL  take the archive from there instead; its checksum must be the same
  -h      print this and exit

Sets, what mc-data calls them, and their archives' bytes (unpacked about as many; Tiny ImageNet's are 120,200 files):
  cifar10 170,052,171; cifar100 168,513,733; tiny-imagenet 248,100,043

What an interrupted run left is gone on with. Nothing is done where the set lies in DEST already. Needs curl or wget.

Examples:
  pipelines/setup/fetch.sh cifar10 ~/data && mc-data cifar10 ~/data -o train.mcz
  make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data OUT=out

Exit status: 0 done, 1 failed, 2 usage, 3 the archive is not the publisher's.
END
}

fail() { # STATUS TEXT
    echo "fetch.sh: $2" >&2
    exit "$1"
}

url=
[ "${1:-}" != --help ] || set -- -h
while getopts :u:h option; do
    case $option in
    u) url=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    :) fail 2 "-$OPTARG needs a URL (see fetch.sh -h)" ;;
    *) fail 2 "there is no option '-$OPTARG' (see fetch.sh -h)" ;;
    esac
done
shift $((OPTIND - 1))
[ $# = 2 ] && [ -n "$2" ] || fail 2 'a set and a folder are wanted (see fetch.sh -h)'

# MD5 as the publisher of CIFAR states it; of Tiny ImageNet, which comes without, as it has been since 2015
case $1 in
cifar10)
    from=https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz
    folder=cifar-10-batches-bin bytes=170052171 sum=c32a1d4ab5d03f1284b67883e8d87530
    ;;
cifar100)
    from=https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz
    folder=cifar-100-binary bytes=168513733 sum=03b5dce01913d631647c71ecec9e9cb8
    ;;
tiny-imagenet)
    from=http://cs231n.stanford.edu/tiny-imagenet-200.zip
    folder=tiny-imagenet-200 bytes=248100043 sum=90528d7ca1a48142e341f4ef8d21d0de
    ;;
*) fail 2 "there is no data set '$1' (there are: cifar10, cifar100, tiny-imagenet)" ;;
esac
case $url in *[[:cntrl:]]*) fail 2 '-u: a URL without control characters is wanted' ;; esac
# blanks are none of a URL; a name that begins with a dash would be an option
set=$1 dest=$2 url=${url:-$from} url=${url// /%20}
case $dest in -*) dest=./$dest ;; esac
archive=$dest/${from##*/}
part=$archive.part unpacked=$dest/.$folder.part

was_there() {
    echo "fetch.sh: $dest/$folder is there" >&2
    exit 0
}
[ ! -e "$dest/$folder" ] || was_there
mkdir -p "$dest" 2>/dev/null && { exec {lock}>>"$part"; } 2>/dev/null || fail 1 "cannot write to '$dest'"
flock -n "$lock" || fail 1 "another one fetches to $part"
# another one may have ended meanwhile
[ ! -e "$dest/$folder" ] || { rm -f "$part" && was_there; }

is_whole() { [ "$(stat -c %s "$part")" -ge "$bytes" ]; }
is_right() { [ "$(md5sum <"$part")" = "$sum  -" ]; }
fetch() {
    local quiet=(-sS)
    echo "fetch.sh: $url: $(($(stat -c %s "$part") / 1000000)) of $((bytes / 1000000)) MB are here" >&2
    if command -v curl >/dev/null; then
        [ ! -t 2 ] || quiet=(--progress-bar)
        curl -fL "${quiet[@]}" --connect-timeout 30 --speed-time 60 --speed-limit 1000 -C - -o "$part" -g --url "$url"
    elif command -v wget >/dev/null; then
        wget -nv -c -T 60 -t 3 -O "$part" -- "$url"
    else
        fail 1 'needs curl or wget (Debian: apt-get install curl ca-certificates)'
    fi
}

is_whole || fetch || {
    # 33: a server that cannot go on in the middle; wget has no such status
    [ $? = 33 ] && : >"$part" && fetch
} || fail 1 "cannot fetch $url; what came is kept, the next run goes on from there"
is_right || {
    is=$(md5sum <"$part")
    : >"$part"
    fail 3 "$url: its MD5 is ${is%% *}, not $sum: thrown away"
}
rm -rf "$unpacked"
mkdir "$unpacked" || fail 1 "cannot write to '$dest'"
case $archive in
*.zip) python3 -m zipfile -e "$part" "$unpacked" ;;
*) tar -xzf "$part" --force-local --no-same-owner -C "$unpacked" ;;
esac || fail 1 "cannot unpack $part"
[ -d "$unpacked/$folder" ] || fail 3 "$url: holds no folder $folder"
mv -T "$unpacked/$folder" "$dest/$folder" || fail 1 "cannot write to '$dest'"
rm -rf "$unpacked" "$part"
echo "fetch.sh: $dest/$folder is there: mc-data $set $dest" >&2
