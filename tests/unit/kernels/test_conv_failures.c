/* SPDX-License-Identifier: Apache-2.0
 *
 * The message when a device's library refuses a convolution: the node, the pass, and the library's
 * reason. */
#include "tests/unit/kernels/device.h"

#include "tests/unit/under.h"

static struct mc_graph *one_conv(void)
{
    struct mc_graph *g = mc_graph_new("one", 3, 9, 7, 5, MEAN, STD);
    int x = mc_graph_conv(g, "odd.conv", 0, 17, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    return finish(g, 0);
}

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

static void check_message(const char *where, const char *first, const char *second)
{
    struct mc_graph *g = one_conv();
    struct mc_error err = {0};
    struct mc_plan *p = NULL;

    assert_int_equal(setenv("MC_EMULATION_CUDNN", where, 1), 0);
    const int rc = be->plan_new(be, g, &(struct mc_plan_opts){.batch = B, .backward = 1}, &p, &err);
    assert_int_equal(unsetenv("MC_EMULATION_CUDNN"), 0);
    assert_int_equal(rc, MC_EFAIL);
    contains(err.text, "odd.conv: ");
    contains(err.text, "by 3x3 to 17 channels");
    contains(err.text, first);
    contains(err.text, second);
    mc_graph_free(g);
}

static void plan_error_names_node(void **state)
{
    (void)state;
    if (!on_emulation())
        skip();
    check_message("describe", "forward of", "CUDNN_STATUS_BAD_PARAM: ");
    check_message("algorithm", "forward of", "CUDNN_STATUS_NOT_SUPPORTED: ");
    check_message("algorithm", "cuDNN has no ", within(0) > 0 ? "--precision f32" : " in f32: ");
}

static void run_error_names_node(void **state)
{
    struct mc_error err = {0};
    struct fixture f;
    float loss;

    (void)state;
    if (!on_emulation())
        skip();
    struct mc_backend *usual = be;
    start(NULL);
    setup(&f, one_conv(), 0);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.backward = 1});
    struct mc_buf *out = buf(B * sizeof loss, NULL);
    be->load(p, &f.source, f.d_ctl);
    assert_int_equal(setenv("MC_EMULATION_CUDNN", "run", 1), 0);
    be->forward(p, MC_MODE_TRAIN, f.d_params, f.d_stats, NULL, f.d_ctl);
    assert_int_equal(unsetenv("MC_EMULATION_CUDNN"), 0);
    assert_int_equal(be->get(be, out, 0, &loss, sizeof loss, &err), MC_EFAIL);
    contains(err.text, "odd.conv: forward of ");
    contains(err.text, "CUDNN_STATUS_EXECUTION_FAILED: Reason: the emulated one");
    teardown(&f);
    be->close(be);
    be = usual;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_error_names_node),
        cmocka_unit_test(run_error_names_node),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
