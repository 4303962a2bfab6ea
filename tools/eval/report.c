/* SPDX-License-Identifier: Apache-2.0
 *
 * What evaluation prints. */
#include "tools/eval/report.h"

#include "libcommon/base/json.h"

#include <math.h>
#include <stdlib.h>

static const char *const quantity[] = {"loss", "accuracy"};

int mc_report_check(const struct mc_report *r, struct mc_error *err)
{
    for (size_t i = 0; i < r->n_data; i++)
        for (size_t p = 0; p < r->T; p++) {
            const struct mc_eval_result *m = &r->data[i].out[p];
            if (isfinite(m->loss) && isfinite(m->loss_se) && isfinite(m->accuracy) &&
                isfinite(m->accuracy_se))
                continue;
            if (r->xy)
                return mc_fail(err, MC_EFAIL, "the loss on %s is not finite at x = %.9g, y = %.9g",
                               r->data[i].name, r->xy[p][0], r->xy[p][1]);
            if (!r->t)
                return mc_fail(err, MC_EFAIL, "%s: the loss on %s is not finite",
                               r->network ? r->network : "a network", r->data[i].name);
            return mc_fail(err, MC_EFAIL, "the loss on %s is not finite at t = %.9g",
                           r->data[i].name, r->t[p]);
        }
    return 0;
}

void mc_report_head(const struct mc_report *r, FILE *f, const char *first)
{
    fputs(first, f);
    for (size_t i = 0; i < r->n_data; i++)
        fprintf(f, "\t%s.loss\t%s.accuracy", r->data[i].name, r->data[i].name);
    putc('\n', f);
}

void mc_report_row(const struct mc_report *r, FILE *f, const char *first, size_t point)
{
    fputs(first, f);
    for (size_t i = 0; i < r->n_data; i++) {
        const struct mc_eval_result *m = &r->data[i].out[point];
        fprintf(f, "\t%.7g\t%.4f", m->loss, 100 * m->accuracy);
    }
    putc('\n', f);
}

void mc_report_json_attack(const struct mc_report *r, FILE *f)
{
    if (!r->attack)
        return;
    fputs("\"attack\":", f);
    mc_json_str(f, r->attack);
    fprintf(f, ",\"bn_attack\":%s,", r->bn_attack ? "true" : "false");
}

void mc_report_json(const struct mc_report *r, FILE *f, size_t point)
{
    for (size_t i = 0; i < r->n_data; i++) {
        const struct mc_eval_result *m = &r->data[i].out[point];
        putc(',', f);
        mc_json_str(f, r->data[i].name);
        fprintf(f,
                ":{\"loss\":%.9g,\"loss_se\":%.3g,\"accuracy\":%.9g,\"accuracy_se\":%.3g,"
                "\"images\":%llu}",
                m->loss, m->loss_se, 100 * m->accuracy, 100 * m->accuracy_se,
                (unsigned long long)m->images);
    }
}

void mc_report_curve(const struct mc_report *r, FILE *f)
{
    char t[32];

    mc_report_head(r, f, "t");
    for (size_t i = 0; i < r->T; i++) {
        snprintf(t, sizeof t, "%.9g", r->t[i]);
        mc_report_row(r, f, t, i);
    }
}

/* What is told of quantity q of a data set along the path. value: (T), room to work in. */
static void summarise(const struct mc_report *r, size_t data, int q, double *value,
                      struct mc_curve_summary *s)
{
    for (size_t i = 0; i < r->T; i++) {
        const struct mc_eval_result *m = &r->data[data].out[i];
        value[i] = q ? 100 * m->accuracy : m->loss;
    }
    mc_curve_summarise(r->T, r->t, value, r->chord, s);
    if (q) {
        s->barrier = s->dip;
        s->barrier_t = s->dip_t;
    }
}

int mc_report_summary(const struct mc_report *r, FILE *f, struct mc_error *err)
{
    double *value = malloc(r->T * sizeof *value);

    if (!value)
        return mc_no_memory(err);
    fputs(
        "data\tquantity\tfirst\tlast\tmean\tarc_mean\tmin\tmin_t\tmax\tmax_t\tbarrier\tbarrier_t\n",
        f);
    for (size_t i = 0; i < r->n_data; i++)
        for (int q = 0; q < 2; q++) {
            struct mc_curve_summary s;
            summarise(r, i, q, value, &s);
            fprintf(f, "%s\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%.4g\t%.6g\t%.4g\t%.6g\t%.4g\n",
                    r->data[i].name, quantity[q], s.first, s.last, s.mean, s.arc_mean, s.min,
                    s.min_t, s.max, s.max_t, s.barrier, s.barrier_t);
        }
    free(value);
    return 0;
}

int mc_report_curve_json(const struct mc_report *r, FILE *f, struct mc_error *err)
{
    double *value = malloc(r->T * sizeof *value);

    if (!value)
        return mc_no_memory(err);
    fputs("{\"kind\":\"curve\",", f);
    mc_report_json_attack(r, f);
    fputs("\"points\":[", f);
    for (size_t i = 0; i < r->T; i++) {
        fprintf(f, "%s{\"t\":%.9g", i ? "," : "", r->t[i]);
        mc_report_json(r, f, i);
        putc('}', f);
    }
    fputs("],\"summary\":{", f);
    for (size_t i = 0; i < r->n_data; i++) {
        fputs(i ? "," : "", f);
        mc_json_str(f, r->data[i].name);
        for (int q = 0; q < 2; q++) {
            struct mc_curve_summary s;
            summarise(r, i, q, value, &s);
            fprintf(f,
                    "%s\"%s\":{\"first\":%.9g,\"last\":%.9g,\"mean\":%.9g,\"arc_mean\":%.9g,"
                    "\"min\":%.9g,\"min_t\":%.9g,\"max\":%.9g,\"max_t\":%.9g,\"barrier\":%.9g,"
                    "\"barrier_t\":%.9g}",
                    q ? "," : ":{", quantity[q], s.first, s.last, s.mean, s.arc_mean, s.min,
                    s.min_t, s.max, s.max_t, s.barrier, s.barrier_t);
        }
        putc('}', f);
    }
    fputs("}}\n", f);
    free(value);
    return 0;
}

void mc_report_plane(const struct mc_report *r, FILE *f)
{
    char at[64];

    mc_report_head(r, f, "x\ty");
    for (size_t i = 0; i < r->T; i++) {
        snprintf(at, sizeof at, "%.9g\t%.9g", r->xy[i][0], r->xy[i][1]);
        mc_report_row(r, f, at, i);
    }
}

void mc_report_marks(const struct mc_mark *m, size_t n, FILE *f)
{
    fputs("mark\tname\tx\ty\toff\n", f);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%s\t", m[i].kind);
        for (const char *c = m[i].name; *c; c++) /* a file's name may hold anything */
            putc((unsigned char)*c < 0x20 ? ' ' : *c, f);
        fprintf(f, "\t%.9g\t%.9g\t%.3g\n", m[i].x, m[i].y, m[i].off);
    }
}

void mc_report_plane_json(const struct mc_report *r, const struct mc_mark *m, size_t n, FILE *f)
{
    fputs("{\"kind\":\"plane\",", f);
    mc_report_json_attack(r, f);
    fputs("\"points\":[", f);
    for (size_t i = 0; i < r->T; i++) {
        fprintf(f, "%s{\"x\":%.9g,\"y\":%.9g", i ? "," : "", r->xy[i][0], r->xy[i][1]);
        mc_report_json(r, f, i);
        putc('}', f);
    }
    fputs("],\"marks\":[", f);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%s{\"mark\":\"%s\",\"name\":", i ? "," : "", m[i].kind);
        mc_json_str(f, m[i].name);
        fprintf(f, ",\"x\":%.9g,\"y\":%.9g,\"off\":%.3g}", m[i].x, m[i].y, m[i].off);
    }
    fputs("]}\n", f);
}

void mc_report_errors(const struct mc_report *r, size_t data, double *loss_se, double *accuracy_se)
{
    *loss_se = *accuracy_se = 0;
    for (size_t i = 0; i < r->T; i++) {
        const struct mc_eval_result *m = &r->data[data].out[i];
        *loss_se = m->loss_se > *loss_se ? m->loss_se : *loss_se;
        *accuracy_se = m->accuracy_se > *accuracy_se ? m->accuracy_se : *accuracy_se;
    }
}
