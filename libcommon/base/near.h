/* SPDX-License-Identifier: Apache-2.0
 *
 * Suggestions for misspelled names. */
#ifndef MC_NEAR_H
#define MC_NEAR_H

#include <stddef.h>

/* The nearest of any number of names:
 *
 *     struct mc_near near = mc_near(word, strlen(word));
 *     for each: mc_near_try(&near, name);
 *     mc_fail(err, MC_EUSAGE, "unknown name '%s'%s", word, mc_near_text(&near, text));  */
struct mc_near {
    const char *word; /* n bytes of it */
    size_t n;
    const char *best; /* points to the caller's name; NULL: none is near */
    size_t distance;
};
struct mc_near mc_near(const char *word, size_t n);
/* A name is near if its Damerau-Levenshtein distance, without regard to case, is at most 3 and at
 * most a third of the longer name. A name that starts with the word (3 letters or more) is near
 * too. */
void mc_near_try(struct mc_near *near, const char *name);
#define MC_NEAR_TEXT 128
/* ", did you mean 'best'?", or "" */
const char *mc_near_text(const struct mc_near *near, char text[MC_NEAR_TEXT]);

#endif
