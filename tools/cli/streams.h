/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard input, output and error of a program. */
#ifndef MC_STREAMS_H
#define MC_STREAMS_H

/* First of all: a descriptor of the three that is closed is taken, so that no file that is opened
 * becomes the output, and what is read or written there fails; stdout and stderr wait where they do
 * not. */
void mc_cli_streams(void);
/* Close stdout: 0 where all of it could be written, else the errno of what could not. */
int mc_cli_close_stdout(void);

#endif
