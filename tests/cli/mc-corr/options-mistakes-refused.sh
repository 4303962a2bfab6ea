# SPDX-License-Identifier: Apache-2.0
# mc-corr refuses wrong options, and an output that cannot be written, before it reads anything.
# It pins the wording of its messages.
fixture moments

fails_with 2 "--measure: unknown value 'cosine' (one of: correlation, l2, moment)" mc-corr --measure cosine m.mcz
fails_with 2 '--perm has no effect without --signature' mc-corr --perm c.mcz m.mcz
fails_with 2 '--signature requires --measure correlation (got l2)' mc-corr --measure l2 --signature m.mcz
fails_with 1 "cannot write 'none/c.mcz': No such file or directory" mc-corr nosuch.mcz -o none/c.mcz # before it reads anything
fails_with 2 '--device has no effect on moments' mc-corr --device cpu m.mcz
