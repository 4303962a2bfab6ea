/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables shared by all pictures. */
#include "tools/plot/figure.h"

#include <string.h>

void mc_figure_text(struct mc_gnuplot *g, const char *name, size_t place, const char *value,
                    enum mc_gnuplot_text kind)
{
    fputs(name, g->script);
    if (place)
        fprintf(g->script, "[%zu]", place);
    fputs(" = ", g->script);
    mc_gnuplot_quote(g, value ? value : "", kind);
    putc('\n', g->script);
}

void mc_figure_numbers(struct mc_gnuplot *g, const char *name, size_t place,
                       const struct mc_scale *a)
{
    fputs(name, g->script);
    if (place)
        fprintf(g->script, "[%zu]", place);
    fputs(" = \"", g->script);
    for (size_t i = 0; i < a->n; i++)
        fprintf(g->script, "%s'%s' %.9g", i ? ", " : "", a->text[i], a->at[i]);
    fputs("\"\n", g->script);
}

void mc_figure_data_name(const struct mc_figure *p, char *out, size_t size)
{
    const size_t n = strlen(p->data);
    const int robust = n > 7 && !strcmp(p->data + n - 7, ".robust");

    snprintf(out, size, "%.*s%s%s", (int)(robust ? n - 7 : n), p->data, n ? " " : "",
             robust ? "robust " : "");
}
