# SPDX-License-Identifier: Apache-2.0
# A program under another file name, such as a link, has its own name in histories and messages: programs that read the history
# know what it did.
fixture pair
ln -s "$(command -v mc-merge)" average
mc-merge a.mcz b.mcz -o expected.mcz
./average a.mcz b.mcz -o mean.mcz
same expected.mcz mean.mcz
./average 2>errors && die 'no operands are accepted'
expect_lines errors 'mc-merge: *missing*'
