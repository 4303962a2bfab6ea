/* SPDX-License-Identifier: Apache-2.0
 *
 * Value and slope of every activation against float64: near kinks, far out, and for NaN and
 * infinities. */
#include "kernels/activation.h"
#include "tests/unit/kernels/naive.h"
#include "tests/unit/must.h"

#define EACH_OP(op) for (enum mc_op op = MC_OP_RELU6; op <= MC_OP_SIGMOID; op++)

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
            worst[0] =
                fmax(worst[0], error_of((double)mc_activation(op, x), naive_value(op, (double)x)));
            worst[1] = fmax(
                worst[1], error_of((double)mc_activation_slope(op, x), naive_slope(op, (double)x)));
        }
        if (!(worst[0] < 1e-6 && worst[1] < 2e-6))
            fail_msg("%s: value %.2g, slope %.2g", mc_op_name(op), worst[0], worst[1]);
    }
}

TEST(far_out)
{
    const float far[] = {1e3f, 1e10f, 5e37f};

    EACH_OP (op)
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            const double x = (double)far[i];
            assert_true(error_of((double)mc_activation(op, far[i]), naive_value(op, x)) < 1e-6);
            assert_true(error_of((double)mc_activation(op, -far[i]), naive_value(op, -x)) < 1e-6);
            assert_true(error_of((double)mc_activation_slope(op, far[i]), naive_slope(op, x)) <
                        1e-6);
            assert_true(error_of((double)mc_activation_slope(op, -far[i]), naive_slope(op, -x)) <
                        1e-6);
        }
}

TEST(nan_stays)
{
    EACH_OP (op)
        assert_true(isnan(mc_activation(op, NAN)));
}

int main(void)
{
    return run_entered(NULL, NULL);
}
