/* SPDX-License-Identifier: Apache-2.0
 *
 * A text held in memory until it is complete. */
#include "tools/cli/text.h"

#include "formats/stream/output.h"

#include <stdlib.h>

int mc_cli_write(const char *path, const char *text, size_t bytes, struct mc_error *err)
{
    struct mc_output *o = NULL;
    int rc = mc_output_open(&o, path, MC_OUTPUT_TEXT, err);

    if (rc)
        return rc;
    if ((rc = mc_output_write(o, text, bytes, err))) {
        mc_output_abandon(o);
        return rc;
    }
    return mc_output_close(o, err);
}

int mc_text_open(struct mc_text *t, struct mc_error *err)
{
    *t = (struct mc_text){0};
    t->f = open_memstream(&t->text, &t->bytes);
    return t->f ? 0 : mc_no_memory(err);
}

int mc_text_close(struct mc_text *t, const char *path, int rc, struct mc_error *err)
{
    if (t->f && fclose(t->f) && !rc)
        rc = mc_no_memory(err);
    if (!rc)
        rc = mc_cli_write(path, t->text, t->bytes, err);
    free(t->text);
    *t = (struct mc_text){0};
    return rc;
}
