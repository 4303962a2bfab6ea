# SPDX-License-Identifier: Apache-2.0
# mc-data tiny-imagenet refuses missing and wrong files, and keeps the old output.
fixture tiny
mc-data synth --samples 20 -o old.mcz
t=tiny/tiny-imagenet-200
tiny() { # TEXT [test]
    mc_data_fails 3 "$1" tiny-imagenet tiny --split "${2:-train}"
}
list=$t/val/val_annotations.txt
cp $list list
printf 'val_n01.JPEG\tn99\t0\n' >>$list; tiny "val_annotations.txt line 4:*image*one*3 classes expected" test
printf '../x.JPEG\tn01\t0\n' >$list; tiny "val_annotations.txt line 1:*image" test
printf 'val_n01.JPEG\n' >$list; tiny "val_annotations.txt line 1:*class*missing" test
printf 'val_n01.JPEG\0\tn01\n' >$list; tiny "val_annotations.txt line 1: contains*NUL byte" test
head -n 2 list >$list; mv $t/val/images/val_n01.JPEG .; tiny "no image*class n01" test
mv val_n01.JPEG $t/val/images
rm $list; tiny "val_annotations.txt" test
cp list $list
printf 'val_n01.JPEG\t\n' >>$list; tiny "val_annotations.txt line 4:*class*missing" test
cp list $list
rm $t/val/images/val_n02.JPEG; tiny "val_n02.JPEG" test
cp $t/words.txt words
long=$(head -c 300 /dev/zero | tr '\0' x)
for name in "\t$long" '\t' '' '\t\377'; do
    printf '\nn01%b\n' "$name" >$t/words.txt
    tiny "words.txt line 2: invalid*repeated name*class n01"
done
cp words $t/words.txt
printf 'n01\tagain\n' >>$t/words.txt; tiny "words.txt line 4"
rm $t/words.txt && mc-data tiny-imagenet tiny -o nameless.mcz
rm $t/train/n02/images/*; tiny "train/n02/images: no JPEG*PNG file found"
rmdir $t/train/n02/images; tiny "train/n02/images"
printf 'n01\n' >>$t/wnids.txt; tiny "wnids.txt: n01*repeated"
printf 'n\377\n' >$t/wnids.txt; tiny "wnids.txt line 1: not a class name"
for name in "$long" 'n01/x' 'n01 x' .n01; do
    printf '\n \n%s\n' "$name" >$t/wnids.txt
    tiny "wnids.txt line 3: not a class name"
done
truncate -s 65M $t/wnids.txt; tiny "wnids.txt:*list*at most 64 MiB"
printf '../n01\n' >$t/wnids.txt; tiny "wnids.txt line 1: not a class name"
: >$t/wnids.txt; tiny "wnids.txt: no classes found"
rm $t/wnids.txt && mkfifo $t/wnids.txt; tiny "wnids.txt: not a regular file" # without a writer
rm $t/wnids.txt; tiny "wnids.txt"
