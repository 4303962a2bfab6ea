/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages about options that argp refuses. argp's own messages have two lines and name --usage. */
#ifndef MC_UNKNOWN_OPTION_H
#define MC_UNKNOWN_OPTION_H

#include <argp.h>

/* Exits with a usage error about the word that argp refused: an unknown or ambiguous option, or an
 * option without its value. Suggests an option with a similar name, or the one that other programs
 * call by this name. */
void mc_cli_refuse_option(const struct argp_option *options, const char *word)
    __attribute__((noreturn));
/* Exits with a usage error if the word is a long option with a single dash, such as "-net". */
void mc_cli_check_single_dash(const struct argp_option *options, const char *word);

#endif
