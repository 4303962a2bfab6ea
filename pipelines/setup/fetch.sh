#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Downloads a data set from its publisher, checks it and unpacks it for mc-data.
set -u
. "$(dirname "$(readlink -f "$0")")/../include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: fetch.sh [-u URL] SET DEST
Download a data set from its publisher into the folder DEST, check it, and unpack it.

  -u URL  download the archive from URL; its checksum must be the same
  -h      print this and exit

  SET            archive    unpacked
  cifar10        170 MB     similar
  cifar100       169 MB     similar
  tiny-imagenet  248 MB     similar, in 120,200 files

Run the same command again to resume an interrupted download. If DEST has the data set already, nothing is done.
Requires curl or wget.

Examples:
  pipelines/setup/fetch.sh cifar10 ~/data && mc-data cifar10 ~/data -o train.mcz
  make -f pipelines/connect.mk DATA=cifar10 DATA_DIR=~/data OUT=out

Exit status: 0 done, 1 failed, 2 usage, 3 the archive differs from the publisher's.
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
    :) fail 2 "-$OPTARG requires a URL (see fetch.sh -h)" ;;
    *) fail 2 "unknown option '-$OPTARG' (see fetch.sh -h)" ;;
    esac
done
shift $((OPTIND - 1))
[ $# = 2 ] && [ -n "$2" ] || fail 2 'SET and DEST are required (see fetch.sh -h)'

# The MD5 of CIFAR is its publisher's. Tiny ImageNet has none; this is the archive's since 2015.
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
*) fail 2 "unknown data set '$1' (one of: cifar10, cifar100, tiny-imagenet)" ;;
esac
case $url in *[[:cntrl:]]*) fail 2 '-u: the URL must not contain control characters' ;; esac
# encode spaces in the URL; keep a leading dash of DEST from being read as an option
set=$1 dest=$2 url=${url:-$from} url=${url// /%20}
case $dest in -*) dest=./$dest ;; esac
archive=$dest/${from##*/}
part=$archive.part unpacked=$dest/.$folder.part

already_exists() {
    echo "fetch.sh: $dest/$folder already exists" >&2
    exit 0
}
[ ! -e "$dest/$folder" ] || already_exists
mkdir -p "$dest" 2>/dev/null && { exec {lock}>>"$part"; } 2>/dev/null || fail 1 "cannot write to '$dest'"
flock -n "$lock" || fail 1 "another fetch.sh is writing $part"
# another fetch.sh may have finished before the lock
[ ! -e "$dest/$folder" ] || { rm -f "$part" && already_exists; }

is_complete() { [ "$(stat -c %s "$part")" -ge "$bytes" ]; }
is_correct() { [ "$(md5sum <"$part")" = "$sum  -" ]; }
fetch() {
    local quiet=(-sS)
    echo "fetch.sh: $url: $(($(stat -c %s "$part") / 1000000)) of $((bytes / 1000000)) MB downloaded" >&2
    if command -v curl >/dev/null; then
        [ ! -t 2 ] || quiet=(--progress-bar)
        curl -fL "${quiet[@]}" --connect-timeout 30 --speed-time 60 --speed-limit 1000 -C - -o "$part" -g --url "$url"
    elif command -v wget >/dev/null; then
        wget -nv -c -T 60 -t 3 -O "$part" -- "$url"
    else
        fail 1 'curl or wget is required (Debian: apt-get install curl ca-certificates)'
    fi
}

is_complete || fetch || {
    # curl's status 33: the server cannot resume; wget has no such status
    [ $? = 33 ] && : >"$part" && fetch
} || fail 1 "cannot download $url: run the same command again to resume"
is_correct || {
    actual=$(md5sum <"$part")
    : >"$part"
    fail 3 "$url: MD5 $sum expected, got ${actual%% *} (the download is deleted)"
}
rm -rf "$unpacked"
mkdir "$unpacked" || fail 1 "cannot write to '$dest'"
case $archive in
*.zip) python3 -m zipfile -e "$part" "$unpacked" ;;
*) tar -xzf "$part" --force-local --no-same-owner -C "$unpacked" ;;
esac || fail 1 "cannot unpack $part"
[ -d "$unpacked/$folder" ] || fail 3 "$url: folder $folder is missing in the archive"
mv -T "$unpacked/$folder" "$dest/$folder" || fail 1 "cannot write to '$dest'"
rm -rf "$unpacked" "$part"
echo "fetch.sh: $dest/$folder is ready: mc-data $set $dest" >&2
