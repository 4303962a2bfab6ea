/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of every program. */
#include "formats/stream/history.h"
#include "kernels/backend.h"
#include "tools/cli/cli.h"
#include "tools/cli/idle_threads.h"
#include "tools/cli/streams.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads of OpenMP that wait for work spin by default: beside other jobs that costs a training
 * nine tenths of its speed. libgomp reads its environment before main, so a program with --threads
 * starts itself once more. If it cannot, its threads spin. */
static void wait_passively(const struct mc_options *all, char **argv)
{
    char program[4096];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    int computes = 0;

    for (size_t i = 0; i < all->n; i++)
        computes |= !strcmp(all->use[i].row->name, "threads");
    if (!computes || n < 0 || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") ||
        setenv("OMP_WAIT_POLICY", "passive", 1))
        return;
    program[n] = 0;
    execv(program, argv);
}

int mc_cli_main(const struct mc_program *p, struct options *o, struct mc_cli *cli, int argc,
                char **argv)
{
    struct mc_error err = {0};
    int rc = 0;

    mc_restore_environment();
    mc_cli_streams();
    mc_options_add(cli, p->options, o);
    if (p->add)
        p->add(o);
    wait_passively(&cli->options, argv);
    mc_cli_parse(cli, p->operands, p->doc, argc, argv);
    if (p->check)
        p->check(o);
    if (!(cli->history = mc_history_new(cli->tool)))
        rc = mc_no_memory(&err);
    else if (cli->no_history)
        mc_history_hide(cli->history);
    if (!rc && !p->prints)
        rc = mc_cli_ready(cli, &err);
    if (!rc)
        rc = p->run(o, &err);
    if (cli->be)
        cli->be->close(cli->be);
    return mc_cli_exit(cli, rc, &err);
}
