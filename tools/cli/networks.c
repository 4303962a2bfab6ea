/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading two networks of the same graph. */
#include "tools/cli/networks.h"

#include "libcommon/base/file.h"

int mc_expect_same_network(const struct mc_cli *cli, const struct mc_graph *a,
                           const struct mc_graph *b, const char *path_a, const char *path_b,
                           struct mc_error *err)
{
    char text[256];
    int rc = mc_graph_expect_same(a, b, mc_file_called(path_a), mc_file_called(path_b), err);

    if (!rc && mc_graph_training_differs(a, b, text, sizeof text))
        mc_warn(cli, "%s and %s differ only in training settings: %s (using the first network's)",
                mc_file_called(path_a), mc_file_called(path_b), text);
    return rc;
}

int mc_read_networks(struct mc_weights *a, struct mc_weights *b, const struct mc_cli *cli,
                     int declared, struct mc_history *h, struct mc_error *err)
{
    const char **path = cli->operands;
    int rc = mc_weights_read(a, (struct mc_stream){.path = path[0], .declared = declared}, h, err);

    if (!rc)
        rc = mc_weights_read(b, (struct mc_stream){.path = path[1], .declared = declared}, h, err);
    return rc ? rc : mc_expect_same_network(cli, a->graph, b->graph, path[0], path[1], err);
}
