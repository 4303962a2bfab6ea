# SPDX-License-Identifier: Apache-2.0
# fetch.sh downloads an archive, resumes after an interruption, and accepts only the publisher's archive.
script=$MC_ROOT/pipelines/setup/fetch.sh
export no_proxy='*'
[ "$("$script" -h | wc -L)" -le 120 ]
fails 2 "SET*DEST*required" "$script" cifar10
fails 2 "unknown data set 'mnist'*cifar10, cifar100, tiny-imagenet" "$script" mnist x
fails 2 "unknown option '-z'" "$script" -z
fails 2 "-u requires*URL" "$script" -u
: >file
fails 1 "write*'file/x'" "$script" cifar10 file/x

# small archives with the publishers' folders, and a copy of the script with their checksums
fixture cifar10 tiny
mkdir www
tar -C set -czf www/cifar-10-binary.tar.gz cifar-10-batches-bin
(cd tiny && python3 -m zipfile -c ../www/tiny-imagenet-200.zip tiny-imagenet-200/)
sums() {
    local c=www/cifar-10-binary.tar.gz t=www/tiny-imagenet-200.zip
    sed "s/170052171/$(stat -c %s $c)/; s/248100043/$(stat -c %s $t)/; s/c32a1d4ab5d03f1284b67883e8d87530/$(md5sum <$c | cut -d' ' -f1)/
        s/90528d7ca1a48142e341f4ef8d21d0de/$(md5sum <$t | cut -d' ' -f1)/" "$script"
}
mkdir setup include
sums >setup/fetch.sh
cp "$MC_ROOT/pipelines/include/environment.sh" include
chmod +x setup/fetch.sh
ln -s setup/fetch.sh fetch.sh
! cmp -s fetch.sh "$script" || die 'the checksums were not replaced'

# a server that stops after 1000 bytes while the file `cut` exists, and ignores ranges while `plain` exists
cat >server.py <<'PY'
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        data = open("www/" + os.path.basename(self.path), "rb").read()
        begin = self.headers.get("Range")
        with open("requests", "a") as f:
            print(begin or "all", file=f)
        begin = 0 if os.path.exists("plain") or not begin else int(begin[6:-1])
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, len(data) - 1, len(data)))
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        end = begin + 1000 if os.path.exists("cut") else len(data)
        self.wfile.write(data[begin:end])
    def log_message(self, *args):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.part", "w").write(str(s.server_port))
os.rename("port.part", "port")
s.serve_forever()
PY
python3 server.py &
server=$!
trap 'kill $server' EXIT
for ((i = 0; i < 500; i++)); do [ ! -e port ] || break; sleep .02; done
at=http://127.0.0.1:$(<port)

# interrupted twice, then completed
touch cut
c=$at/cifar-10-binary.tar.gz
for i in 1 2; do
    ! ./fetch.sh -u "$c" cifar10 new 2>errors || die 'half an archive was accepted'
    grep -q 'run the same command again to resume' errors || die "$(cat errors)"
    expect_equal "$(stat -c %s new/cifar-10-binary.tar.gz.part)" ${i}000
    [ ! -e new/cifar-10-batches-bin ]
done
rm cut
./fetch.sh -u "$c" cifar10 new 2>errors || die "$(cat errors)"
expect_equal "$(paste -sd ' ' requests)" 'all bytes=1000- bytes=2000-'
diff -r set/cifar-10-batches-bin new/cifar-10-batches-bin
expect_equal "$(ls -A new)" cifar-10-batches-bin
mc-data cifar10 new --split test --samples 5 -o new.mcz
# it exists
: >requests
./fetch.sh -u "$c" cifar10 new 2>errors
grep -q 'new/cifar-10-batches-bin already exists$' errors
[ ! -s requests ]

# a server without ranges, after half of the download; an archive that is complete
mkdir plainly
head -c 5000 www/cifar-10-binary.tar.gz >plainly/cifar-10-binary.tar.gz.part
touch plain
./fetch.sh -u "$c" cifar10 plainly 2>errors || die "$(cat errors)"
diff -r set/cifar-10-batches-bin plainly/cifar-10-batches-bin
rm plain
mkdir here
cp www/cifar-10-binary.tar.gz here/cifar-10-binary.tar.gz.part
: >requests
./fetch.sh -u "$c" cifar10 here 2>errors || die "$(cat errors)"
[ -e here/cifar-10-batches-bin ] && [ ! -s requests ] || die 'a complete archive was downloaded again'

# another archive of the same length
mkdir wrong
head -c "$(stat -c %s www/cifar-10-binary.tar.gz)" /dev/zero >www/other.tar.gz
rc=0
./fetch.sh -u "$at/other.tar.gz" cifar10 wrong 2>errors || rc=$?
expect_equal $rc 3
grep -q 'MD5 .* expected, got .* (the download is deleted)' errors
expect_equal "$(find wrong -size +0 -type f)" ''
# a download that started with other bytes is deleted, then repeated
head -c 100 /dev/zero >wrong/cifar-10-binary.tar.gz.part
! ./fetch.sh -u "$c" cifar10 wrong 2>errors || die 'other bytes were accepted'
./fetch.sh -u "$c" cifar10 wrong 2>errors || die "$(cat errors)"
# without a server; one fetch.sh at a time
! ./fetch.sh -u http://127.0.0.1:1/x cifar10 none 2>errors || die 'passes without a server'
grep -q 'cannot download' errors
(
    exec 8>>none/cifar-10-binary.tar.gz.part
    flock 8
    fails 1 'another fetch.sh*writing' ./fetch.sh -u "$c" cifar10 none
)
# another fetch.sh finishes between the first check and the lock
mkdir after race
printf '#!/bin/bash\nmkdir race/cifar-10-batches-bin\nexec %q "$@"\n' "$(command -v flock)" >after/flock
chmod +x after/flock
: >requests
PATH=$PWD/after:$PATH ./fetch.sh -u "$c" cifar10 race 2>errors || die "$(cat errors)"
grep -q 'race/cifar-10-batches-bin already exists$' errors || die "$(cat errors)"
[ ! -s requests ]
expect_equal "$(find race -mindepth 1)" race/cifar-10-batches-bin
# a zip; wget without curl; neither
mkdir bin
for p in dirname readlink bash cat cut stat md5sum flock mkdir rm mv tar gzip python3 wget; do
    [ -z "$(command -v $p)" ] || ln -s "$(command -v $p)" bin/
done
./fetch.sh -u "$at/tiny-imagenet-200.zip" tiny-imagenet zip 2>errors || die "$(cat errors)"
mc-data tiny-imagenet zip -o zip.mcz
if [ -e bin/wget ]; then
    touch cut
    ! PATH=$PWD/bin ./fetch.sh -u "$c" cifar10 bywget 2>errors || die 'half an archive was accepted from wget'
    rm cut
    PATH=$PWD/bin ./fetch.sh -u "$c" cifar10 bywget 2>errors || die "$(cat errors)"
    diff -r set/cifar-10-batches-bin bywget/cifar-10-batches-bin
    rm bin/wget
fi
! PATH=$PWD/bin ./fetch.sh -u "$c" cifar10 without 2>errors || die 'passes without curl and wget'
grep -q 'curl or wget is required' errors
