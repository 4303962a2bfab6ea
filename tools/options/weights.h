/* SPDX-License-Identifier: Apache-2.0
 *
 * The option --weights of programs that average networks. */
#ifndef MC_OPTIONS_WEIGHTS_H
#define MC_OPTIONS_WEIGHTS_H

#include "tools/cli/cli.h"

struct mc_weights_option {
    double *values; /* (n), NULL if the option was not given: all are equal */
    size_t n;
    double largest; /* maximum of the values */
};

void mc_weights_option_parse(const char *option, const char *arg, void *value);
void mc_weights_option_record(const void *value, struct mc_history *h, struct mc_checkpoint *s);
#define MC_OPTION_WEIGHTS(at_, ...)                                                                \
    {                                                                                              \
        "weights", 0, MC_OPT_OTHER, at_, .arg = "W1,W2,...", .parse = mc_weights_option_parse,     \
                                         .record = mc_weights_option_record, __VA_ARGS__           \
    }
#define MC_HELP_WEIGHTS                                                                            \
    "not negative; they are divided by their sum, so 1,1 and .5,.5 are the same (default: equal)"

/* A usage error unless there are `networks` weights, or none. */
void mc_weights_option_check(const struct mc_weights_option *o, size_t networks);
/* The weight of network i relative to the largest, so that .3,.3 is 1,1 to the bit; 1 without the
 * option. */
double mc_weights_option_get(const struct mc_weights_option *o, size_t i);
void mc_weights_option_release(struct mc_weights_option *o);

#endif
