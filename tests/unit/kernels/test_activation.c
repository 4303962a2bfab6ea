/* SPDX-License-Identifier: Apache-2.0
 *
 * Value and slope of every activation against float64: near kinks, far out, and for NaN and
 * infinities. */
#include "kernels/activation.h"
#include "tests/unit/kernels/naive.h"
#include "tests/unit/must.h"

#define FACTOR .2f
#define LISTED(NAME, ...) MC_OP_##NAME,
static const enum mc_op OPS[] = {MC_EACH_ACTIVATION(LISTED)};
#define EACH_OP(op) for (const enum mc_op *op = OPS; op < OPS + sizeof OPS / sizeof *OPS; op++)

static double error_of(double x, double expected)
{
    return fabs(x - expected) / (fabs(expected) + .1);
}

TEST(values_and_slopes)
{
    EACH_OP (op) {
        double worst[2] = {0, 0};
        for (int i = -130000; i <= 130000; i++) {
            const float x = (float)i * 1e-3f;
            worst[0] = fmax(worst[0], error_of((double)mc_activation(*op, FACTOR, x),
                                               naive_value(*op, (double)FACTOR, (double)x)));
            worst[1] = fmax(worst[1], error_of((double)mc_activation_slope(*op, FACTOR, x),
                                               naive_slope(*op, (double)FACTOR, (double)x)));
        }
        if (!(worst[0] < 1e-6 && worst[1] < 2e-6))
            fail_msg("%s: value %.2g, slope %.2g", mc_op_name(*op), worst[0], worst[1]);
    }
}

TEST(large_inputs_agree_with_float64)
{
    const float far[] = {1e3f, 1e10f, 5e37f};

    EACH_OP (op)
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            const double x = (double)far[i];
            assert_true(error_of((double)mc_activation(*op, FACTOR, far[i]),
                                 naive_value(*op, (double)FACTOR, x)) < 1e-6);
            assert_true(error_of((double)mc_activation(*op, FACTOR, -far[i]),
                                 naive_value(*op, (double)FACTOR, -x)) < 1e-6);
            assert_true(error_of((double)mc_activation_slope(*op, FACTOR, far[i]),
                                 naive_slope(*op, (double)FACTOR, x)) < 1e-6);
            assert_true(error_of((double)mc_activation_slope(*op, FACTOR, -far[i]),
                                 naive_slope(*op, (double)FACTOR, -x)) < 1e-6);
        }
}

/* Small numbers keep their relative precision: tanh does not cancel. */
TEST(tanh_near_0)
{
    for (float x = 1e-30f; x < 1; x *= 1.1f) {
        const double y = (double)mc_activation(MC_OP_TANH, 0, x), expected = tanh((double)x);
        assert_true(fabs(y - expected) <= 3e-7 * expected);
        assert_true((double)mc_activation(MC_OP_TANH, 0, -x) == -y);
    }
}

TEST(nan_stays)
{
    EACH_OP (op)
        assert_true(isnan(mc_activation(*op, FACTOR, NAN)));
}

int main(void)
{
    return run_entered(NULL, NULL);
}
