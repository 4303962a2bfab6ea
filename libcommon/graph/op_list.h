/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of a graph. A line here declares an operation: its enumerator, MC_OP_CONV, and its
 * name in streams, "conv". Each of three tables then needs a row for it: mc_op_conv in
 * libcommon/graph/ops (op.h), cpu_op_conv in kernels/cpu/ops, cuda_op_conv in kernels/cuda/ops. A
 * build that lacks a row does not link. */
#ifndef MC_OP_LIST_H
#define MC_OP_LIST_H

/* clang-format off */
/* Activations: operations on one number. The rows of all tables are made from this list, so that an
 * activation is a line here and one in kernels/activation.h. The ReLU is not one of them, because
 * batch norms can compute it too.
 *
 *     X(ENUMERATOR, name, key, key's meaning, value)
 *
 * key: the name of the setting `factor` in streams, or NULL. Both texts are for graph.md. */
#define MC_EACH_ACTIVATION(X)                                                                      \
    X(RELU6, relu6, NULL, NULL, "as PyTorch's")                                                    \
    X(GELU, gelu, NULL, NULL, "as PyTorch's, with the error function, not tanh")                   \
    X(SILU, silu, NULL, NULL, "as PyTorch's")                                                      \
    X(HARDSWISH, hardswish, NULL, NULL, "as PyTorch's")                                            \
    X(HARDSIGMOID, hardsigmoid, NULL, NULL, "as PyTorch's")                                        \
    X(SIGMOID, sigmoid, NULL, NULL, "as PyTorch's")                                                \
    X(LEAKYRELU, leakyrelu, "slope", "factor of numbers below 0", "x above 0, x · slope below")    \
    X(TANH, tanh, NULL, NULL, "as PyTorch's")                                                      \
    X(ELU, elu, "alpha", "factor of e^x − 1 below 0", "x above 0, α(e^x − 1) below")

/* All operations, in the order of graph.md: X(ENUMERATOR, name, ...). */
#define MC_EACH_OP(X)                                                                              \
    X(NORMALISE, normalise)                                                                        \
    X(CONV, conv)                                                                                  \
    X(LINEAR, linear)                                                                              \
    X(BATCHNORM, batchnorm)                                                                        \
    X(LAYERNORM, layernorm)                                                                        \
    X(GROUPNORM, groupnorm)                                                                        \
    X(SCALE, scale)                                                                                \
    X(RELU, relu)                                                                                  \
    MC_EACH_ACTIVATION(X)                                                                          \
    X(ADD, add)                                                                                    \
    X(MUL, mul)                                                                                    \
    X(CONCAT, concat)                                                                              \
    X(MAXPOOL, maxpool)                                                                            \
    X(AVGPOOL, avgpool)                                                                            \
    X(GLOBALPOOL, globalpool)                                                                      \
    X(ADAPTPOOL, adaptpool)                                                                        \
    X(PAD, pad)                                                                                    \
    X(FLATTEN, flatten)                                                                            \
    X(DROPOUT, dropout)                                                                            \
    X(LOSS, loss)
/* clang-format on */

#define MC_OP_ENUMERATOR(NAME, ...) MC_OP_##NAME,
enum mc_op { MC_EACH_OP(MC_OP_ENUMERATOR) MC_N_OPS };

#endif
