/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass over data: which images it delivers in which batches, and that it reads the stream's
 * end. */
#include "libcommon/nets/nets.h"
#include "tools/align/verify.h"
#include "tools/eval/measure.h"
#include "tools/load/in_memory.h"
#include "tools/load/loader.h"
#include "tests/unit/must.h"

#define N 10
#define SIDE 128 /* makes the stream larger than its reader's buffer */

static const struct mc_net_spec spec = {
    .channels = 1, .height = SIDE, .width = SIDE, .classes = N, .mean = {0.5f}, .std = {0.25f}};
static struct mc_backend *be;
static struct mc_graph *net;

/* Image i is noise and has label i. */
static int write_data(struct mc_error *err)
{
    struct mc_dataset_info info = {.name = "ten",
                                   .split = "train",
                                   .order = "publisher",
                                   .n = N,
                                   .pixels = MC_U8,
                                   .spec = spec};
    struct mc_dataset_writer *d = NULL;
    static uint8_t images[N][SIDE * SIDE];
    uint32_t noise = 1;
    int32_t labels[N];

    for (int i = 0; i < N; i++) {
        for (size_t k = 0; k < sizeof images[i]; k++) {
            noise = noise * 1664525 + 1013904223;
            images[i][k] = (uint8_t)(noise >> 24);
        }
        labels[i] = i;
    }
    int rc = mc_dataset_create(&d, file, &info, NULL, err);
    if (!rc)
        rc = mc_dataset_write(d, N, images, labels, err);
    return mc_dataset_commit(d, rc, NULL, err);
}

/* Expect batches of four of the images [from, to) among the first `samples`: their first images and
 * sizes, each image once. */
static void expect(uint64_t samples, uint64_t from, uint64_t to, const int *first,
                   const size_t *size)
{
    struct mc_dataset_reader *data = NULL;
    struct mc_model model = {.be = be};
    struct mc_loader f;
    const struct mc_plan_opts opts = {.batch = 4};
    struct mc_loader_options o = {.be = be, .batch = 4, .samples = samples, .exact = 1};
    size_t n, k = 0;

    must(mc_dataset_open(&data, file, &why));
    must(be->plan_new(be, net, &opts, &model.plan, &why));
    o.data = data;
    must(mc_loader_open(&f, net, &o, &why));
    assert_int_equal(f.n_images, samples ? samples : N);
    f.from = from;
    f.to = to;
    for (;; k++) {
        int32_t labels[4], order[4];
        must(mc_loader_next(&f, &model, 1, &n, &why));
        assert_int_equal(n, size[k]);
        if (!n)
            break;
        must(be->get(be, f.labels, 0, labels, sizeof labels, &why));
        must(be->get(be, f.order, 0, order, sizeof order, &why));
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(order[i], i < n ? (int)i : -1);
            if (i < n)
                assert_int_equal(labels[i], first[k] + (int)i);
        }
    }
    assert_int_equal(f.read, N);
    must(mc_loader_next(&f, &model, 1, &n, &why));
    assert_int_equal(n, 0);
    mc_loader_release(&f);
    mc_model_release(&model);
    mc_dataset_close(data);
}

TEST(requested_images_are_delivered_once)
{
    static const int first[] = {0, 4, 8}, second[] = {4};

    expect(0, 0, UINT64_MAX, first, (const size_t[]){4, 4, 2, 0});
    expect(N, 0, N, first, (const size_t[]){4, 4, 2, 0});
    expect(8, 0, 8, first, (const size_t[]){4, 4, 0});
    expect(6, 0, UINT64_MAX, first, (const size_t[]){4, 2, 0});
    expect(3, 0, UINT64_MAX, first, (const size_t[]){3, 0});
    expect(N, 4, 8, second, (const size_t[]){4, 0});
    expect(6, 4, UINT64_MAX, second, (const size_t[]){2, 0});
    expect(N, 4, 4, NULL, (const size_t[]){0});
}

TEST(stream_end_is_read_with_few_samples)
{
    struct mc_dataset_reader *data = NULL;
    struct mc_model model = {.be = be};
    struct mc_loader f;
    const struct mc_plan_opts opts = {.batch = 4};
    struct mc_loader_options o = {.be = be, .batch = 4, .samples = 3};
    size_t n = 0;
    FILE *s = fopen(file, "r+b");
    int rc;

    assert_non_null(s);
    assert_int_equal(fseek(s, -1, SEEK_END), 0);
    int last = fgetc(s);
    assert_int_equal(fseek(s, -1, SEEK_END), 0);
    assert_int_not_equal(fputc(last ^ 1, s), EOF);
    fclose(s);
    must(mc_dataset_open(&data, file, &why));
    must(be->plan_new(be, net, &opts, &model.plan, &why));
    o.data = data;
    must(mc_loader_open(&f, net, &o, &why));
    while (!(rc = mc_loader_next(&f, &model, 1, &n, &why)) && n)
        ;
    assert_int_equal(rc, MC_EINPUT);
    mc_loader_release(&f);
    mc_model_release(&model);
    mc_dataset_close(data);
    must(write_data(&why));
}

TEST(too_many_samples_are_refused_or_clamped)
{
    struct mc_dataset_info info = {.n = N};
    uint64_t n = 0;

    must(mc_data_samples(&info, "d", 0, 1, &n, &why));
    assert_int_equal(n, N);
    must(mc_data_samples(&info, "d", N - 1, 1, &n, &why));
    assert_int_equal(n, N - 1);
    must(mc_data_samples(&info, "d", N + 1, 0, &n, &why));
    assert_int_equal(n, N);
    must_fail(mc_data_samples(&info, "d", N + 1, 1, &n, &why), MC_EINPUT,
              "d: *10 images*11*requested");
    info.n = 0;
    must_fail(mc_data_samples(&info, "d", 0, 0, &n, &why), MC_EINPUT, "d: *no images");
}

/* Evaluation, verification and training check the number of images alike. */
TEST(every_pass_refuses_too_many_samples)
{
    float stats[1] = {0};
    const struct mc_weights w = {
        .graph = net, .params = calloc(net->P, sizeof *w.params), .stats = stats};
    const float *params = w.params;
    const double one = 1;
    struct mc_span span = {
        .graph = net, .k = 1, .T = 1, .vectors = &params, .coef = &one, .stats = stats};
    struct mc_loader_options o = {.be = be, .batch = 4, .samples = N + 1};
    struct mc_eval_result measured;
    const struct mc_eval_output output = {.result = &measured};
    struct mc_verified v;
    struct mc_in_memory r;

    assert_non_null(params);
    for (int k = 0; k < 4; k++) {
        struct mc_dataset_reader *d = NULL;
        int rc;
        must(mc_dataset_open(&d, file, &why));
        o.data = d;
        o.exact = k > 0;
        forget();
        if (k < 2)
            rc = mc_eval_loss(&span, &o, NULL, &output, NULL, &why);
        else if (k == 2)
            rc = mc_verify(&w, &w, &o, &v, &why);
        else {
            rc = mc_in_memory_open(&r, file, N + 1, NULL, &why);
            mc_in_memory_release(&r, be);
        }
        mc_dataset_close(d);
        if (!k) {
            must(rc);
            assert_int_equal(measured.images, N);
            continue;
        }
        assert_int_equal(rc, MC_EINPUT);
        must_say(":*10 images*11*requested");
    }
    free(w.params);
}

TEST(data_of_another_shape_are_refused)
{
    struct mc_net_spec other = spec;
    struct mc_loader_options o = {.be = be, .batch = 4};

    for (int k = 0; k < 2; k++) {
        struct mc_dataset_reader *d = NULL;
        struct mc_graph *g = NULL;
        struct mc_loader f;
        other.height = k ? SIDE : 3;
        other.classes = k ? N + 1 : N;
        must(mc_net_build(&g, "mlp:4", &other, &why));
        must(mc_dataset_open(&d, file, &why));
        o.data = d;
        must_fail(mc_loader_open(&f, g, &o, &why), MC_EINPUT,
                  k ? "has 10 classes, but the network has 11"
                    : "images are 1x128x128, but the network expects 1x3x128");
        mc_loader_release(&f);
        mc_dataset_close(d);
        mc_graph_free(g);
    }
}

TEST(rounding_differences_count_as_equal)
{
    struct mc_verified v = {.images = 1, .difference = 1e-5, .logit = 2};

    assert_true(mc_verified_same(&v));
    v.difference = 3e-4;
    assert_false(mc_verified_same(&v));
    v.logit = 4;
    assert_true(mc_verified_same(&v));
    v = (struct mc_verified){.images = 1};
    assert_true(mc_verified_same(&v));
}

static int start(void **state)
{
    return enter_folder(state) ||
           mc_backend_open(&be, &(struct mc_backend_opts){.device = "cpu", .threads = 1}, &why) ||
           mc_net_build(&net, "mlp:4", &spec, &why) || write_data(&why);
}

static int stop(void **state)
{
    mc_graph_free(net);
    if (be)
        be->close(be);
    return leave_folder(state);
}

int main(void)
{
    return run_entered(start, stop);
}
