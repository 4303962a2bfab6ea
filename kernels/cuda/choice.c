/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of a convolution pass's engine: the committed table's, or the first of cuDNN's
 * heuristics that may be used. Nothing is timed here: a timed choice would change the bytes of a
 * rerun. */
#include "kernels/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char COMMITTED[] =
#include "plans.inc"
    ;
const char *cuda_plan_table = COMMITTED;

#define SHOWN "shown"

const char *cuda_pass_name(int pass)
{
    return pass == CUDA_PASS_ADD ? "add" : mc_pass_name((enum mc_pass)pass);
}

/* ---- allowed engines ------------------------------------------------------------------------- */

#define NOTE(name) (1u << CUDNN_NUMERICAL_NOTE_##name)

const char *cuda_engine_proof(const struct cuda_engine *e)
{
    return e->native.n                         ? CUDA_NATIVE_ENGINE
           : e->notes & NOTE(NONDETERMINISTIC) ? "unordered"
           : e->notes                          ? "noted"
           : e->shown                          ? SHOWN
                                               : "unproved";
}

/* cuDNN's default uses TF32 for float32. Fourier transforms need much memory; half precision has
 * too few bits for Winograd's intermediate numbers. */
int cuda_engine_is_usable(const struct cuda *be, const struct cuda_engine *e)
{
    unsigned unfit = NOTE(FFT) | NOTE(REDUCED_PRECISION_REDUCTION);

    if (be->precision == MC_PRECISION_F32)
        unfit |= NOTE(TENSOR_CORE) | NOTE(DOWN_CONVERT_INPUTS);
    if (cuda_type_of(be) != CUDA_F32)
        unfit |= NOTE(WINOGRAD) | NOTE(DOWN_CONVERT_INPUTS);
    if (!be->any_order)
        unfit |= NOTE(NONDETERMINISTIC);
    return !(e->notes & unfit) && (e->notes || e->shown || e->native.n || be->any_order) &&
           e->work <= CUDA_MAX_WORK;
}

/* ---- the table ------------------------------------------------------------------------------- */

void cuda_table_key(const struct cuda *be, int any_order, char key[CUDA_TABLE_KEY])
{
    snprintf(key, CUDA_TABLE_KEY, "%s/%d\t%zu\t%s\t%s", be->kind, be->processors, cudnnGetVersion(),
             mc_precision_names[be->precision], any_order ? "any" : "fixed");
}

static int by_table(struct cuda_conv *c, int pass)
{
    char key[CUDA_TABLE_KEY], shape[MC_SHAPE_TEXT], text[CUDA_ENGINE_TEXT], proof[16];

    MC_CONV_TEXT(&c->shape, shape);
    for (int any_order = c->be->any_order; any_order >= 0; any_order--) {
        cuda_table_key(c->be, any_order, key);
        const char *line = mc_conv_table_entry(cuda_plan_table, key, cuda_pass_name(pass), shape);
        if (!line || sscanf(line, "%159[^\t\n]\t%15[^\t\n]", text, proof) != 2 ||
            cuda_engine_make(c, pass, text))
            continue;
        c->engines[pass].shown = !strcmp(proof, SHOWN);
        if (cuda_engine_is_usable(c->be, &c->engines[pass]))
            return 0;
    }
    return -1;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* cuda_choose for shapes without an entry in the table. */
static int choose_untuned(struct cuda_conv *c, int pass)
{
    char list[CUDA_MAX_ENGINES][CUDA_ENGINE_TEXT];
    int unfit = 0;

    for (int fallback = 0; fallback < 2; fallback++) {
        const int n = cuda_engine_candidates(c, pass, fallback, list);
        for (int i = 0; i < n; i++) {
            if (cuda_engine_make(c, pass, list[i]))
                continue;
            if (cuda_engine_is_usable(c->be, &c->engines[pass]))
                return 0;
            unfit++;
        }
    }
    if (unfit || !c->reason[0])
        snprintf(c->reason, sizeof c->reason, "none of %d engines may be used", unfit);
    cuda_engine_release(&c->engines[pass]);
    return -1;
}

/* In f32 and a fixed order, the first engine that may be used is far slower than others. Add this to
 * `describe`, once. */
static void report_untimed(struct cuda *be)
{
    char *text = be->base.describe;
    const size_t length = strlen(text);

    if (be->precision != MC_PRECISION_F32 || be->any_order || be->untimed)
        return;
    be->untimed = 1;
    snprintf(text + length, sizeof be->base.describe - length,
             ", convolutions not timed: run make gpu-tune");
}

int cuda_choose(struct cuda_conv *c, int pass)
{
    struct cuda_choice *choice = c->be->choices;
    char key[CUDA_TABLE_KEY], shape[MC_SHAPE_TEXT], line[CUDA_CHOICE_LINE];

    cuda_table_key(c->be, c->be->any_order, key);
    MC_CONV_TEXT(&c->shape, shape);
    const int n = snprintf(line, sizeof line, "%s\t%s\t%d\t%s\t", key, cuda_pass_name(pass),
                           c->shape.n, shape);
    c->reason[0] = 0;
    while (choice && strncmp(choice->line, line, (size_t)n) != 0)
        choice = choice->next;
    if (choice)
        return cuda_engine_make(c, pass, choice->line + n);
    if (by_table(c, pass)) {
        c->reason[0] = 0;
        if (choose_untuned(c, pass))
            return -1;
        if (!c->engines[pass].native.n)
            report_untimed(c->be);
    }
    if (!(choice = malloc(sizeof *choice))) {
        snprintf(c->reason, sizeof c->reason, "out of memory");
        return -1;
    }
    snprintf(choice->line, sizeof choice->line, "%s%s", line, c->engines[pass].text);
    choice->next = c->be->choices;
    c->be->choices = choice;
    c->be->chosen += mc_conv_table_hash(choice->line);
    snprintf(c->be->algorithms, sizeof c->be->base.facts->value, "%08x", (unsigned)c->be->chosen);
    return 0;
}
