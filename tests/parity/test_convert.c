/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint that PyTorch saved, imported: the same logits as PyTorch's, to 1e-4. The golden
 * files are made by make_convert_golden.py, which says what they are.
 *
 * test_convert WEIGHTS DATASET prints the logits of all images instead, a line an image, for
 * convert-torch.sh. */
#include "formats/codecs/dataset.h"
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "kernels/backend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_IMAGES 4096

/* Logits (n, classes) of uint8 images (n,C,H,W) in evaluation; the batch is all of them. */
static int logits_of(const struct mc_weights *w, const uint8_t *images, size_t n, float *out,
                     struct mc_error *err)
{
    const struct mc_graph *g = w->graph;
    const size_t image = (size_t)g->input[0] * (size_t)g->input[1] * (size_t)g->input[2];
    const struct mc_ctl ctl = {.seed = 1};
    int32_t *order = calloc(n, sizeof *order), *labels = calloc(n, sizeof *labels);
    struct mc_buf *b[7] = {0};
    const struct {
        const void *from;
        size_t bytes;
    } sources[6] = {{images, n * image},
                    {labels, n * sizeof *labels},
                    {order, n * sizeof *order},
                    {w->params, g->P * sizeof(float)},
                    {w->stats, g->S * sizeof(float)},
                    {&ctl, sizeof ctl}};
    struct mc_backend *be = NULL;
    struct mc_plan *plan = NULL;
    int rc =
        order && labels
            ? mc_backend_open(&be, &(struct mc_backend_opts){.device = "cpu", .threads = 1}, err)
            : MC_ENOMEM;

    for (size_t i = 0; !rc && i < n; i++)
        order[i] = (int32_t)i;
    for (size_t i = 0; !rc && i < 6; i++) {
        rc = be->buf_new(be, sources[i].bytes ? sources[i].bytes : 4, &b[i], err);
        if (!rc && sources[i].bytes)
            rc = be->put(be, b[i], 0, sources[i].from, sources[i].bytes, err);
    }
    size_t bytes = n * (size_t)g->classes * sizeof *out;
    if (!rc && !(rc = be->buf_new(be, bytes, &b[6], err)) &&
        !(rc = be->plan_new(be, g, &(struct mc_plan_opts){.batch = n}, &plan, err))) {
        const struct mc_source source = {
            .images = b[0], .pixels = MC_U8, .labels = b[1], .order = b[2]};
        be->load(plan, &source, b[5]);
        be->forward(plan, MC_MODE_EVAL, b[3], b[4], NULL, b[5]);
        be->output(plan, MC_OUT_LOGITS, 0, b[6]);
        rc = be->get(be, b[6], 0, out, bytes, err);
    }
    if (plan)
        be->plan_free(plan);
    for (size_t i = 0; be && i < 7; i++)
        be->buf_free(be, b[i]);
    if (be)
        be->close(be);
    free(order);
    free(labels);
    return rc;
}

/* ---- the golden file ------------------------------------------------------------------------ */

static char path[4096];

static const char *golden(const char *ending)
{
    const char *root = getenv("MC_ROOT");

    snprintf(path, sizeof path, "%s/tests/parity/convert_golden.%s", root ? root : ".", ending);
    return path;
}

static void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

static void a_checkpoint_gives_pytorchs_logits(void **state)
{
    enum { N = 12, CLASSES = 5, IMAGE = 192 };
    static uint8_t images[N * IMAGE];
    static float want[N * CLASSES], got[N * CLASSES];
    void *const data[] = {images, want};
    struct mc_convert_notes notes;
    struct mc_error err = {0};
    struct mc_graph *g = NULL;
    struct mc_foreign *f = NULL;
    struct mc_reader *r = NULL;
    struct mc_weights w;
    double worst = 0;

    (void)state;
    ok(mc_reader_open(&r, golden("mcz"), &err), &err);
    assert_int_equal(mc_tensor_bytes(mc_reader_tensor(r, 0)), sizeof images);
    assert_int_equal(mc_tensor_bytes(mc_reader_tensor(r, 1)), sizeof want);
    ok(mc_reader_rest(r, data, &err), &err);
    mc_reader_close(r);
    ok(mc_graph_json_read(&g, golden("json"), &err), &err);
    ok(mc_safetensors_open(&f, golden("safetensors"), &err), &err);
    ok(mc_convert_import(&w, g, "", f, NULL, &notes, &err), &err);
    mc_foreign_close(f);
    assert_int_equal(notes.left_out, 1);
    ok(logits_of(&w, images, N, got, &err), &err);
    for (size_t i = 0; i < N * CLASSES; i++)
        worst = fmax(worst, fabs((double)got[i] - (double)want[i]));
    if (!(worst <= 1e-4))
        fail_msg("logits differ by %g", worst);
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
    float *out = NULL;
    size_t n = 0;
    int rc = mc_weights_read(&w, weights, NULL, err);

    if (!rc && !(rc = mc_dataset_open(&d, dataset, err))) {
        out = malloc(MAX_IMAGES * (size_t)w.graph->classes * sizeof *out);
        rc = out ? 0 : mc_no_memory(err);
        while (!rc && !(rc = mc_dataset_lend(d, MAX_IMAGES, &images, &labels, &n, err)) && n) {
            rc = logits_of(&w, images, n, out, err);
            for (size_t i = 0; !rc && i < n * (size_t)w.graph->classes; i++)
                printf("%.9g%c", (double)out[i], (i + 1) % (size_t)w.graph->classes ? '\t' : '\n');
        }
    }
    mc_dataset_close(d);
    mc_weights_release(&w);
    free(out);
    return rc;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_checkpoint_gives_pytorchs_logits)};
    struct mc_error err = {0};

    if (argc != 3)
        return cmocka_run_group_tests(tests, NULL, NULL);
    if (print_logits(argv[1], argv[2], &err))
        fprintf(stderr, "test_convert: %s\n", err.text);
    return mc_exit_status(err.code);
}
