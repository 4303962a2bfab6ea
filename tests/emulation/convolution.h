/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass of a convolution on the emulated device. */
#ifndef MC_EMULATED_CONVOLUTION_H
#define MC_EMULATED_CONVOLUTION_H

#include <cudnn.h>

/* Images, or a filter of n output channels. */
struct tensor {
    cudnnDataType_t type;
    int64_t number, alignment, sizes[4], strides[4];

    int64_t at(int64_t n, int64_t c, int64_t h, int64_t w) const
    {
        return n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
    }
    size_t all() const
    {
        return (size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
    }
    size_t bytes() const
    {
        return all() * (type == CUDNN_DATA_FLOAT ? 4 : 2);
    }
};

struct convolution {
    cudnnBackendDescriptorType_t pass;
    tensor x, w, y;
    int64_t pad[2], stride[2];
    float alpha, beta;
    bool tf32;      /* float32 factors have 11 bits */
    bool unordered; /* sums vary as if every run had another order */
};

/* Computes the pass's tensor from the other two. */
void emulate_convolution(const convolution &c, void *x, void *w, void *y);

#endif
