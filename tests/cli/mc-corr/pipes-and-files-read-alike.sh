# SPDX-License-Identifier: Apache-2.0
# mc-corr writes the same bytes from a file, standard input and a pipe, with any number of threads.
fixture moments

mc-corr <m.mcz >x.mcz
same c.mcz x.mcz
cat m.mcz | mc-corr -t 2 --measure correlation - >x.mcz
same c.mcz x.mcz
