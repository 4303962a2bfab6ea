# SPDX-License-Identifier: Apache-2.0
# mc-data tiny-imagenet refuses lists that do not name each class and each picture once: a truncated list would be a
# smaller data set.
fixture tiny
mc-data synth --samples 20 -o old.mcz
t=tiny/tiny-imagenet-200
list=$t/val/val_annotations.txt
expect_message '' mc-data tiny-imagenet tiny --split test
expect_message '' mc-data tiny-imagenet tiny
# more pictures than annotations: every class has one, so only the count shows it
cp $t/val/images/val_n01.JPEG $t/val/images/val_n09.JPEG
tiny() { mc_data_fails 3 "$1" tiny-imagenet tiny --split "${2:-test}"; }
tiny "val_annotations.txt: no line for val_n09.JPEG of $t/val/images"
printf 'val_n09.JPEG\tn02\t0\t0\t9\t9\n' >>$list
mc-data tiny-imagenet tiny --split test --no-shuffle -o four.mcz
expect_equal "$(mc-info --json four.mcz | grep -o '"shape":\[4\]')" '"shape":[4]'
# fewer pictures: also if the missing one is not among the first
rm $t/val/images/val_n09.JPEG
tiny "val_annotations.txt: val_n09.JPEG*not in $t/val/images"
mc_data_fails 3 "val_n09.JPEG*not in" tiny-imagenet tiny --split test --no-shuffle --samples 1
# a picture twice, in one class or in two
cp $t/val/images/val_n01.JPEG $t/val/images/val_n09.JPEG
for c in n01 n02; do
    head -n 4 $list >keep
    printf 'val_n09.JPEG\t%s\n' $c | cat keep - >$list
    tiny "val_annotations.txt: val_n09.JPEG*repeated"
done
cp keep $list
touch $t/val/images/list.txt $t/val/images/.DS_Store
expect_message "mc-data: tiny: 2 files*$t/val/images/list.txt" mc-data tiny-imagenet tiny --split test
# a truncated list of classes
cp $t/wnids.txt wnids
head -n 2 wnids >$t/wnids.txt
tiny "$t/train/n02: not a class*wnids.txt" train
tiny "image*one*2 classes expected"
cp wnids $t/wnids.txt
# two sets, one within the other
mkdir tiny/train && cp wnids tiny/wnids.txt
tiny "tiny: holds both wnids.txt*folder tiny-imagenet-200" train
mc-data tiny-imagenet $t -o x.mcz
