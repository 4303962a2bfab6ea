/* SPDX-License-Identifier: Apache-2.0
 *
 * The main function of every program. */
#include "formats/stream/history.h"
#include "kernels/backend.h"
#include "tools/cli/cli.h"
#include "tools/cli/idle_threads.h"
#include "tools/cli/streams.h"

int mc_cli_open_backend(struct mc_cli *cli, struct mc_error *err)
{
    const int rc = mc_backend_open(&cli->be, &cli->backend, err);

    if (!rc && cli->be->fallback.text[0])
        mc_warn(cli, "computing on the CPU: %s (--device cpu: no warning)", cli->be->fallback.text);
    return rc;
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
    mc_cli_parse(cli, p->operands, p->doc, argc, argv);
    if (p->check)
        p->check(o);
    mc_cli_check_required();
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
