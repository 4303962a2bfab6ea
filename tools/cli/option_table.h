/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of a program's options. One row describes an option completely: argp's entry, the help
 * with its default, the check of the value and its message, the entry in the history and the
 * setting that a checkpoint compares. A program adds its own rows and those of the groups that it
 * shares (mc_options_add); mc_cli_parse does the rest.
 *
 *     static const struct mc_option options[] = {
 *         {"samples", 'n', MC_OPT_U64, MC_AT(samples), .arg = "N", .min = 1, .max = UINT32_MAX,
 *          .def = "100", .help = "first N images", .flags = MC_OPT_HISTORY},
 *         MC_OPTION_OUTPUT, {0}}; */
#ifndef MC_OPTION_TABLE_H
#define MC_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct mc_history;
struct mc_checkpoint;

enum mc_option_type {
    MC_OPT_FLAG,   /* int: 1 if given, or 0 with MC_OPT_CLEARS */
    MC_OPT_U64,    /* uint64_t in [min, max] */
    MC_OPT_INT,    /* int in [min, max]; not recorded */
    MC_OPT_REAL,   /* double in [min, max]; 1e-2 and 8/255 */
    MC_OPT_RANGE,  /* double[2] in [min, max], FROM:TO; the second is greater. Not in histories */
    MC_OPT_CHOICE, /* int or enum: the index in names */
    MC_OPT_TEXT,   /* const char * */
    MC_OPT_INPUT,  /* const char *, a file that is read: mc_cli_main registers it */
    MC_OPT_RESULT, /* const char *, a file that is written: likewise */
    MC_OPT_OTHER   /* any type, which parse and record know */
};

enum {
    MC_OPT_CLEARS = 1,  /* the flag sets 0 instead of 1 */
    MC_OPT_HISTORY = 2, /* recorded in the history if it has a default or was given */
    MC_OPT_IDENTITY = 4 /* a checkpoint compares it */
};

struct mc_option {
    const char *name;
    int letter; /* or 0 */
    enum mc_option_type type;
    size_t offset;        /* offset of the value in the table's struct */
    const char *arg;      /* the value's name in --help; completion derives its words and files from
                             it (completion.bash); NULL: no value, or the names */
    const char *def;      /* as on the command line; --help shows it. NULL: the struct's value */
    long double min, max; /* long double represents every uint64_t */
    const char *const *names;
    void (*parse)(const char *option, const char *arg, void *value);
    /* Records the value in a history or in a checkpoint's settings; the other is NULL. */
    void (*record)(const void *value, struct mc_history *h, struct mc_checkpoint *s);
    const char *help;
    int group; /* --help prints groups in ascending order */
    unsigned flags;
    const char *saved;    /* its name in a checkpoint if that differs */
    const char *needs[2]; /* options without which it has no effect and is refused */
    unsigned only;        /* the uses of the program in which it has an effect; 0: all */
};

/* Offset of a value in the program's `struct options`. */
#define MC_AT(member) offsetof(struct options, member)

/* A row of one of the program's tables. */
struct mc_option_use {
    const struct mc_option *row;
    void *base, *value;
    const char *def;
    int given;
};
#define MC_MAX_OPTIONS 96
struct mc_options {
    struct mc_option_use use[MC_MAX_OPTIONS];
    size_t n;
};

#endif
