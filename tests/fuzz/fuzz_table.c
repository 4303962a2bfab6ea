/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to tables and logs: fuzz_table [SECONDS [SEED]]. Whatever comes, a reader takes it
 * whole or says MC_EINPUT, and every cell that it took as a number is finite; the sanitizers see to
 * the rest. */
#include "tests/fuzz/fuzz.h"
#include "tools/plot/table.h"

#include <math.h>

static const char *const samples[] = {
    "t\ttest.loss\ttest.accuracy\n0\t0.5\t83.5\n0.5\t-1e-3\t+12.\n1\t.75\t83\n",
    "layer\tunits\tidentity\tpermuted\nlayers.0.conv\t16\t0.01\t0.63\n",
    "{\"event\":\"start\",\"net\":\"a \\\"b\\\" \\u00e9\",\"list\":[1,{\"x\":[]},\"]\"]}\n"
    "{\"event\":\"epoch\",\"epoch\":1,\"loss\":2.5e0,\"accuracy\":null}\n"
    "{\"event\":\"epoch\",\"epoch\":2,\"loss\":2,\"accuracy\":50,\"more\":true}\n",
};
static const char *const words[] = {"\t",
                                    "\n",
                                    "\"",
                                    "\\",
                                    "\\u",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    ",",
                                    ":",
                                    "nan",
                                    "1e999",
                                    "-",
                                    "null",
                                    "",
                                    "\\u00",
                                    "epoch",
                                    "{\"event\":\"epoch\"}\n",
                                    "\xff\xfe",
                                    "0x1",
                                    "\r\n",
                                    "event",
                                    " ",
                                    "[[[[[[[[",
                                    "\"loss\":",
                                    NULL};

static size_t which;

static size_t sample(unsigned char *x)
{
    which = below(sizeof samples / sizeof *samples);
    memcpy(x, samples[which], strlen(samples[which]));
    return strlen(samples[which]);
}

static int take(const unsigned char *x, size_t n, struct mc_error *err)
{
    static double v[FUZZ_MAX];
    struct mc_table t = {0};
    int rc = fuzz_put(x, n, err);

    if (rc)
        return rc;
    rc = which == 2 ? mc_table_read_log(&t, fuzz_path, "epoch", err)
                    : mc_table_read(&t, fuzz_path, err);
    if (rc && t.text)
        rc = mc_fail(err, MC_EFAIL, "refused, but there is a text");
    for (size_t c = 0; !rc && c < t.cols; c++) {
        struct mc_error none;
        if (t.rows > n || t.cols > n)
            rc = mc_fail(err, MC_EFAIL, "larger than its text");
        else if (!mc_table_numbers(&t, t.names[c], v, &none))
            for (size_t r = 0; r < t.rows; r++)
                if (!isfinite(v[r]))
                    rc = mc_fail(err, MC_EFAIL, "took a number that is none");
    }
    mc_table_release(&t);
    return rc;
}

int main(int argc, char **argv)
{
    const struct fuzzer f = {
        .name = "table", .words = words, .most = 5, .sample = sample, .take = take};

    return fuzz(&f, argc, argv);
}
