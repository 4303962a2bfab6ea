/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/options/weights.h"

#include "formats/stream/history.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WEIGHT 1e9
#define NUMBER 26 /* "%.17g," with its sign, exponent and final 0 */

void mc_weights_option_parse(const char *option, const char *arg, void *value)
{
    struct mc_weights_option *o = value;
    size_t room = 1;

    for (const char *c = arg; *c; c++)
        room += *c == ',';
    mc_weights_option_release(o);
    if (!(o->values = calloc(room, sizeof *o->values))) {
        mc_message("out of memory");
        exit(1);
    }
    for (const char *c = arg;; c++) {
        char word[64] = "";
        const size_t n = strcspn(c, ",");
        if (n < sizeof word)
            memcpy(word, c, n);
        const double weight = mc_parse_real(option, word, 0, MAX_WEIGHT);
        o->values[o->n++] = weight;
        o->largest = weight > o->largest ? weight : o->largest;
        c += n;
        if (!*c)
            break;
    }
    if (!(o->largest > 0))
        mc_cli_usage("%s: one weight must be greater than 0 (got '%s')", option, arg);
}

void mc_weights_option_record(const void *value, struct mc_history *h, struct mc_checkpoint *s)
{
    const struct mc_weights_option *o = value;
    char *text = calloc(o->n, NUMBER);
    size_t used = 0;

    (void)s;
    for (size_t i = 0; text && i < o->n; i++)
        used += (size_t)snprintf(text + used, NUMBER, "%s%.17g", i ? "," : "", o->values[i]);
    mc_history_str(h, "weights", text ? text : "");
    free(text);
}

void mc_weights_option_check(const struct mc_weights_option *o, size_t networks)
{
    if (o->values && o->n != networks)
        mc_cli_usage("--weights must have one number per network (got %zu for %zu networks)", o->n,
                     networks);
}

double mc_weights_option_get(const struct mc_weights_option *o, size_t i)
{
    return o->values ? o->values[i] / o->largest : 1;
}

void mc_weights_option_release(struct mc_weights_option *o)
{
    free(o->values);
    *o = (struct mc_weights_option){0};
}
