/* SPDX-License-Identifier: Apache-2.0
 *
 * An imported PyTorch checkpoint has PyTorch's logits, to 1e-4. make_convert_golden.py makes and
 * describes the golden files.
 *
 * test_convert WEIGHTS DATASET prints the logits of all images instead, one line per image, for
 * convert-agrees-with-pytorch.sh. */
#include "formats/codecs/dataset.h"
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "tests/parity/golden.h"
#include "tests/unit/kernels/resources.h"

#include <unistd.h>

#define MAX_IMAGES 4096

/* Logits (n, classes) of uint8 images (n,C,H,W) in evaluation, valid until release(). All images are
 * one batch. */
static const float *logits_of(const struct mc_weights *w, const void *images, size_t n)
{
    const struct mc_graph *g = w->graph;
    const size_t image = (size_t)g->input[0] * (size_t)g->input[1] * (size_t)g->input[2];
    const struct mc_ctl ctl = {.seed = 1};

    int32_t *order = room(n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    const struct mc_source source = {.images = buf(n * image, images),
                                     .pixels = MC_U8,
                                     .labels = buf(n * sizeof(int32_t), NULL),
                                     .order = buf(n * sizeof *order, order)};
    struct mc_buf *params = buf(g->P * sizeof(float), w->params), *d_ctl = buf(sizeof ctl, &ctl);
    struct mc_buf *stats = g->S ? buf(g->S * sizeof(float), w->stats) : NULL;
    struct mc_plan *p = plan_of(g, (struct mc_plan_opts){.batch = n});
    be->load(p, &source, d_ctl);
    be->forward(p, MC_MODE_EVAL, params, stats, NULL, d_ctl);
    return output(p, MC_OUT_LOGITS, 0, n * (size_t)g->classes);
}

static void a_checkpoint_gives_pytorchs_logits(void **state)
{
    enum { N = 12, CLASSES = 5, IMAGE = 192 };
    static uint8_t images[N * IMAGE];
    static float want[N * CLASSES];
    void *const data[] = {images, want};
    static const char path[] = "imported.mcz";
    struct mc_convert_source *source = NULL;
    struct mc_convert_notes notes;
    struct mc_error err = {0};
    struct mc_graph *g = NULL;
    struct mc_foreign *f = NULL;
    struct mc_reader *r = NULL;
    struct mc_weights w;
    double worst = 0;

    (void)state;
    ok(mc_reader_open(&r, golden_path("convert_golden.mcz"), &err), &err);
    assert_int_equal(mc_tensor_bytes(mc_reader_tensor(r, 0)), sizeof images);
    assert_int_equal(mc_tensor_bytes(mc_reader_tensor(r, 1)), sizeof want);
    ok(mc_reader_rest(r, data, &err), &err);
    mc_reader_close(r);
    ok(mc_graph_json_read(&g, golden_path("convert_golden.json"), &err), &err);
    ok(mc_safetensors_open(&f, golden_path("convert_golden.safetensors"), &err), &err);
    ok(mc_convert_from_foreign(&source, g, f, NULL, 0, &notes, &err), &err);
    ok(mc_convert_write(source, MC_CONVERT_MCZ, path, "", NULL, NULL, &err), &err);
    ok(mc_weights_read(&w, (struct mc_stream){.path = path}, NULL, &err), &err);
    source->close(source);
    unlink(path);
    mc_foreign_close(f);
    assert_int_equal(notes.left_out, 1);
    const float *got = logits_of(&w, images, N);
    for (size_t i = 0; i < N * CLASSES; i++)
        worst = fmax(worst, fabs((double)got[i] - (double)want[i]));
    if (!(worst <= 1e-4))
        fail_msg("logits differ by %g", worst);
    release(0);
    mc_weights_release(&w);
    mc_graph_free(g);
}

/* ---- for the script ------------------------------------------------------------------------- */

static int print_logits(const char *weights, const char *dataset, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    struct mc_weights w = {0};
    const int32_t *labels;
    const void *images;
    size_t n = 0;
    int rc = mc_weights_read(&w, (struct mc_stream){.path = weights}, NULL, err);

    if (!rc && !(rc = mc_dataset_open(&d, dataset, err)))
        while (!(rc = mc_dataset_lend(d, MAX_IMAGES, &images, &labels, &n, err)) && n) {
            const float *out = logits_of(&w, images, n);
            for (size_t i = 0; i < n * (size_t)w.graph->classes; i++)
                printf("%.9g%c", (double)out[i], (i + 1) % (size_t)w.graph->classes ? '\t' : '\n');
            release(0);
        }
    mc_dataset_close(d);
    mc_weights_release(&w);
    return rc;
}

static int start_one_thread(void **state)
{
    (void)state;
    open_cpu(1);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_checkpoint_gives_pytorchs_logits)};
    struct mc_error err = {0};

    if (argc != 3)
        return cmocka_run_group_tests(tests, start_one_thread, stop);
    open_cpu(1);
    if (print_logits(argv[1], argv[2], &err))
        fprintf(stderr, "test_convert: %s\n", err.text);
    be->close(be);
    return mc_exit_status(err.code);
}
