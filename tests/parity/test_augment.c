/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares flip, crop, affine map and colours of a batch with torchvision's for the same random
 * numbers (golden file: make_augment_golden.py): for bytes and floats, and for a first layer that
 * reads channels in blocks and one that reads planes. */
#include "tests/parity/golden.h"
#include "tests/unit/kernels/device.h"

enum { C = 3, H = 9, W = 7, IMAGE = C * H * W };

static float golden[B][IMAGE];
static int sample_of[B];

static int read_golden(void **state)
{
    FILE *f = golden_open("augment_golden.tsv");
    int ok_so_far = 1;

    for (int b = 0; b < B && ok_so_far; b++) {
        ok_so_far = fscanf(f, "%d", &sample_of[b]) == 1;
        for (int i = 0; i < IMAGE && ok_so_far; i++)
            ok_so_far = fscanf(f, "%f", &golden[b][i]) == 1;
    }
    fclose(f);
    return ok_so_far ? start(state) : -1;
}

static struct mc_graph *planes(void)
{
    return net_of("mlp:4", (struct mc_net_spec){C, H, W, 5, {.5f, .4f, .45f}, {.25f, .3f, .2f}});
}

static void augmentation_is_torchvisions(void **state)
{
    const struct mc_augment a = {
        .flip = 1, .pad = 2, .turn = 30, .scale = .2f, .contrast = .25f, .saturation = .25f};
    const struct mc_tap_request tap = {0, 0, C};

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct fixture f;
        double worst = 0;
        setup(&f, kind & 1 ? small_net(0) : planes(), 1);
        struct mc_buf *floats = buf(N * f.image * sizeof(float), f.pixels);
        if (kind & 2) {
            f.source.images = floats;
            f.source.pixels = MC_F32;
        }
        f.source.augment = &a;
        f.source.purpose = MC_RNG_AUGMENT;
        f.source.base = 1000;
        struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.taps = &tap, .n_taps = 1});
        be->load(p, &f.source, f.d_ctl);
        const float *out = output(p, MC_OUT_TAP, 0, B * IMAGE);
        for (int b = 0; b < B; b++) {
            assert_int_equal(sample_of[b], (b + B) * 5 % N);
            for (int i = 0; i < IMAGE; i++) {
                const int c = i / (H * W);
                const double got = (double)out[b * IMAGE + i] * (double)STD[c] + (double)MEAN[c];
                const double e = fabs(got - (double)golden[b][i]);
                worst = e > worst ? e : worst;
            }
        }
        if (!(worst <= 1e-6))
            fail_msg("kind %d: a pixel differs by %g", kind, worst);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(augmentation_is_torchvisions)};

    return cmocka_run_group_tests(tests, read_golden, stop);
}
