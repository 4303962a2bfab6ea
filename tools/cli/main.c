/* SPDX-License-Identifier: Apache-2.0
 *
 * The main function of every program: its files, its error and its exit status. */
#include "formats/stream/history.h"
#include "kernels/backend.h"
#include "tools/cli/cli.h"
#include "tools/cli/idle_threads.h"
#include "tools/cli/streams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int mc_cli_open_backend(struct mc_cli *cli, struct mc_error *err)
{
    const int rc = mc_backend_open(&cli->be, &cli->backend, err);

    if (!rc && cli->be->fallback.text[0])
        mc_warn(cli, "computing on the CPU: %s (--device cpu: no warning)", cli->be->fallback.text);
    return rc;
}

int mc_cli_is_pickle(const char *path)
{
    static const char *const endings[] = {".pt", ".pth", ".ckpt", ".pkl", NULL};
    const char *dot = path ? strrchr(path, '.') : NULL;
    size_t i = 0;

    while (dot && endings[i] && strcmp(dot, endings[i]) != 0)
        i++;
    return dot && endings[i];
}

/* Refuse an output name that belongs to another format. */
static int check_name(const struct mc_cli *cli, const char *output, struct mc_error *err)
{
    const char *dot = strrchr(output, '.');

    if (!dot || cli->text || cli->foreign ||
        (!mc_cli_is_pickle(output) && strcmp(dot, ".safetensors") && strcmp(dot, ".npz")))
        return 0;
    return mc_fail(err, MC_EUSAGE,
                   "--output: '%s': the output is an mcz stream (use -o %.*s.mcz; mc-convert "
                   "writes networks for PyTorch)",
                   output, (int)(dot - output), output);
}

/* Register the operands (unless registers_operands), the rows' files, -o and --log-json, and check
 * all files, so that a mistake costs no hours of work and no file. Return MC_EUSAGE also if a
 * binary output would go to a terminal or is named like a file of another format. */
static int check_files(struct mc_cli *cli, struct mc_error *err)
{
    const char *output = cli->output ? cli->output : "-";

    for (size_t i = 0; !cli->registers_operands && i < cli->n_operands; i++)
        mc_files_add(&cli->files, MC_FILE_INPUT, NULL, cli->operands[i]);
    for (struct mc_option_use *u = cli->options.use; u < cli->options.use + cli->options.n; u++)
        if (u->row->type == MC_OPT_INPUT || u->row->type == MC_OPT_RESULT)
            mc_files_add(&cli->files, u->row->type == MC_OPT_INPUT ? MC_FILE_INPUT : MC_FILE_OUTPUT,
                         u->row->name, *(const char **)u->value);
    mc_files_add(&cli->files, MC_FILE_MAIN, "output", output);
    mc_files_add(&cli->files, MC_FILE_LOG, "log-json", cli->log_path);
    if (!cli->text && !strcmp(output, "-") && isatty(STDOUT_FILENO))
        return mc_fail(err, MC_EUSAGE, "cannot write a binary stream to a terminal (use -o FILE)");
    mc_cli_text_to_stderr();
    int rc = check_name(cli, output, err);
    return rc ? rc : mc_files_check(&cli->files, err);
}

/* Return 1 if this program's input is an empty pipe and its output goes to another program: only
 * the last program of a pipe reports an empty input. */
static int is_reported_later(const struct mc_cli *cli, const struct mc_error *err)
{
    struct stat st;

    return err->empty_pipe && !cli->text && (!cli->output || !strcmp(cli->output, "-")) &&
           !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode);
}

/* Free the contents of cli except the backend, print err if code is not 0 (unless an empty pipe was
 * passed on), and check that stdout could be written. Return the exit status. */
static int finish(struct mc_cli *cli, int code, const struct mc_error *err)
{
    mc_history_free(cli->history);
    free(cli->operands);
    mc_files_release(&cli->files);
    if (code && !is_reported_later(cli, err))
        mc_message(err->text);
    if (mc_cli_close_stdout(!code))
        code = code ? code : MC_EFAIL;
    if (!code)
        mc_print_ending();
    return mc_exit_status(code);
}

int mc_cli_main(const struct mc_program *p, struct options *o, struct mc_cli *cli, int argc,
                char **argv)
{
    struct mc_error err = {0};
    int rc = 0;

    cli->tool = p->name;
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
        rc = check_files(cli, &err);
    if (!rc)
        rc = p->run(o, &err);
    if (cli->be)
        cli->be->close(cli->be);
    return finish(cli, rc, &err);
}
