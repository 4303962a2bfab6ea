/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of a graph. A line here declares an operation: its enumerator, MC_OP_CONV, and its
 * name in streams, "conv". Each of three tables then needs a row for it: mc_op_conv in
 * libcommon/graph/ops (op.h), cpu_op_conv in kernels/cpu/ops, cuda_op_conv in kernels/cuda/ops. A
 * build that lacks a row does not link. */
#ifndef MC_OP_LIST_H
#define MC_OP_LIST_H

/* clang-format off */
/* Activations: operations on one number. The rows of all tables and the functions of
 * kernels/activation.h, which has the rules for formulas, are made from this list: an activation is
 * a row here. The ReLU is not one of them, because batch norms can compute it too.
 *
 *     X(ENUMERATOR, name, key, key's meaning, text, value, slope)
 *
 * key: the name of the setting `factor` in streams, or NULL. The meaning and the text are for
 * graph.md. value, slope: the activation of x and its derivative, at a kink PyTorch's. Only
 * kernels/activation.h compiles these expressions. */
#define MC_EACH_ACTIVATION(X)                                                                      \
    X(RELU6, relu6, NULL, NULL, "as PyTorch's", mc_clamp(x, 0, 6), x > 0 && x < 6 ? 1.0f : 0.0f)   \
    X(GELU, gelu, NULL, NULL, "as PyTorch's, with the error function, not tanh",                   \
      x * mc_normal(x), mc_normal(x) + x * 0.39894228f * mc_exp(-0.5f * x * x))                    \
    X(SILU, silu, NULL, NULL, "as PyTorch's",                                                      \
      x * mc_sigmoid(x), mc_sigmoid(x) * (1 + x * (1 - mc_sigmoid(x))))                            \
    X(HARDSWISH, hardswish, NULL, NULL, "as PyTorch's",                                            \
      x * mc_clamp(x + 3, 0, 6) * (1.0f / 6), x < -3 ? 0 : x > 3 ? 1 : x * (1.0f / 3) + 0.5f)      \
    X(HARDSIGMOID, hardsigmoid, NULL, NULL, "as PyTorch's",                                        \
      mc_clamp(x + 3, 0, 6) * (1.0f / 6), x > -3 && x < 3 ? 1.0f / 6 : 0.0f)                       \
    X(SIGMOID, sigmoid, NULL, NULL, "as PyTorch's",                                                \
      mc_sigmoid(x), mc_sigmoid(x) * (1 - mc_sigmoid(x)))                                          \
    X(LEAKYRELU, leakyrelu, "slope", "factor of numbers below 0", "x above 0, x · slope below",    \
      x > 0 ? x : x * factor, x > 0 ? 1 : factor)                                                  \
    X(TANH, tanh, NULL, NULL, "as PyTorch's", mc_tanh(x), (1 - mc_tanh(x)) * (1 + mc_tanh(x)))     \
    X(ELU, elu, "alpha", "factor of e^x − 1 below 0", "x above 0, α(e^x − 1) below",               \
      x > 0 ? x : factor * (mc_exp(x) - 1), x > 0 ? 1 : factor * mc_exp(x))

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
