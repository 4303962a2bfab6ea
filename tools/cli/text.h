/* SPDX-License-Identifier: Apache-2.0
 *
 * A text for a file of its own, written in one piece once it is complete:
 *
 *     struct mc_text t = {0};
 *     int rc = mc_text_open(&t, err);
 *     if (!rc)
 *         rc = print(t.f);
 *     return mc_text_close(&t, path, rc, err); */
#ifndef MC_CLI_TEXT_H
#define MC_CLI_TEXT_H

#include "libcommon/base/text.h"

/* Write a text in one piece: to stdout for NULL or "-", else to a file as mc_output does. */
MC_USE_RESULT int mc_cli_write(const char *path, const char *text, size_t bytes,
                               struct mc_error *err);

/* Write it to a file, or to stdout for NULL or "-"; nothing where rc, the caller's so far, tells of
 * an error. Frees it, also when it was not opened; returns rc or what failed. */
MC_USE_RESULT int mc_text_close(struct mc_text *t, const char *path, int rc, struct mc_error *err);

#endif
