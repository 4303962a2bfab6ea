/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard input, output and error of a program. */
#ifndef MC_STREAMS_H
#define MC_STREAMS_H

/* Call first. Occupies each of the three descriptors that is closed, so that no file opened later
 * becomes the output; reads from it and writes to it fail. stdout and stderr wait if their
 * descriptor is non-blocking. */
void mc_cli_streams(void);
/* Write the text that stdout gets to stderr from now on. It comes from libraries, such as oneDNN's
 * log: results go to the descriptor as a whole (tools/cli/text.h). */
void mc_cli_text_to_stderr(void);
/* Closes stdout. Returns 0 if everything was written; else prints an error, if `report` is set, and
 * returns -1. */
int mc_cli_close_stdout(int report);

#endif
