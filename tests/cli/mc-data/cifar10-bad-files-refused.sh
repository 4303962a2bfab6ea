# SPDX-License-Identifier: Apache-2.0
# mc-data cifar10 refuses wrong files, and keeps the old output.
fixture cifar10
mc-data synth --samples 20 -o a.mcz
cp a.mcz old.mcz

fails 3 "data_batch_1.bin" mc-data cifar10 . -o old.mcz
fails 1 "cannot open 'nowhere'" mc-data cifar10 nowhere -o old.mcz
fails 3 "not a folder" mc-data cifar10 a.mcz -o old.mcz
damaged() { mc_data_fails 3 "$1" cifar10 set --split test; } # each split has its own files
bin=set/cifar-10-batches-bin/test_batch.bin
cp $bin keep.bin
truncate -s 30729999 $bin; damaged "has 30729999 bytes"
truncate -s 30733073 $bin; damaged "has 30733073 bytes"
truncate -s 0 $bin; damaged "has 0 bytes"
cp keep.bin $bin
printf '\012' | dd of=$bin bs=1 seek=$((3073 * 9999)) conv=notrunc status=none
damaged "record 9999*label 10 of 10 classes"
rm $bin; damaged "test_batch.bin"
mkdir $bin; damaged "test_batch.bin: not a regular file"
rmdir $bin
# a FIFO without a writer
refuses_fifo() { # FILE
    mkfifo "set/cifar-10-batches-bin/$1"
    fails 3 "$1: not a regular file" timeout 60 mc-data cifar10 set --split test -o old.mcz
    rm "set/cifar-10-batches-bin/$1"
    same a.mcz old.mcz
}
refuses_fifo test_batch.bin
mv keep.bin $bin
rm set/cifar-10-batches-bin/batches.meta.txt
refuses_fifo batches.meta.txt
printf 'cat\ndog\n' >set/cifar-10-batches-bin/batches.meta.txt
damaged "10 class names expected*got 2"
for bytes in 100 1000000; do
    head -c $bytes /dev/zero >set/cifar-10-batches-bin/batches.meta.txt
    damaged "not a list*10 names"
done
printf '%s\n' airplane automobile bird "$(head -c 65 /dev/zero | tr '\0' x)" deer dog frog horse ship truck \
    >set/cifar-10-batches-bin/batches.meta.txt
damaged "batches.meta.txt: not a list*10 names"
printf '%s\n' airplane automobile bird $'ch\xe4t' deer dog frog horse ship truck >set/cifar-10-batches-bin/batches.meta.txt
damaged "batches.meta.txt: not a list*10 names"
rm set/cifar-10-batches-bin/batches.meta.txt
mc-data cifar10 set --split test --samples 5 -o nameless.mcz
fails 2 "at most 10000" mc-data cifar10 set --split test --samples 10001
rm set/cifar-10-batches-bin/data_batch_3.bin
fails 3 "data_batch_3.bin" mc-data cifar10 set
