# SPDX-License-Identifier: Apache-2.0
# mc-bezier gives the same bytes twice, on a pipe as in a file; chains of several control points are trained as well.
fixture curves

curve | same curve.mcz -
curve --chain --control-points 2 --seed 9 -o chain.mcz
mc-info --check line.mcz curve.mcz chain.mcz
