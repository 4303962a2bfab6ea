# SPDX-License-Identifier: Apache-2.0
# mc-eval reports standard errors on a subset of the images, and none on all images.
fixture three

mc-eval --samples 100 --data d.mcz n1.mcz 2>err >out
grep -q 'first 100 of 700 images; standard errors' err
mc-eval --test-samples 50 --data test.mcz n1.mcz 2>err >out
grep -q 'test: first 50 of 333 images' err
expect_message '' mc-eval --full --data d.mcz n1.mcz
fails 3 '333 images*500*requested' mc-eval --test-samples 500 --data test.mcz n1.mcz
fails 2 '--test-samples*no effect*with --full' mc-eval --test-samples 5 --full --data test.mcz n1.mcz
fails 2 '--samples*no effect*with --full' mc-eval --samples 100 --full --data d.mcz n1.mcz
