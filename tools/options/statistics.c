/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/options/statistics.h"

#include "tools/cli/data_warnings.h"
#include "tools/eval/measure.h"

int mc_statistics_set(struct mc_cli *cli, struct mc_weights *w,
                      const struct mc_statistics_options *o, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    struct mc_progress progress;
    struct mc_loader_options pass = {.be = cli->be,
                                     .batch = o->batch,
                                     .samples = o->samples,
                                     .exact = o->exact,
                                     .augment = !o->plain,
                                     .seed = o->seed,
                                     .progress = mc_progress_count_of,
                                     .arg = &progress};
    const float *vector = w->params;
    const double one = 1;
    struct mc_span span = {.graph = w->graph, .k = 1, .T = 1, .vectors = &vector, .coef = &one};
    int rc = mc_dataset_open(&d, o->data, err);

    if (rc)
        return rc;
    mc_history_input(cli->history, mc_dataset_stream(d));
    pass.data = d;
    mc_progress_begin(&progress, cli, "measuring", "images", 0);
    rc = mc_eval_statistics(&span, &pass, NULL, w->stats, err);
    mc_progress_end(&progress);
    if (!rc) {
        const struct mc_dataset_info *info = mc_dataset_get_info(d);
        mc_data_warn(cli, w->graph, w->dataset, info, o->data, MC_DATA_TRAIN);
        if (o->plain)
            mc_data_warn_plain(cli, o->plain, o->augmented, info);
    }
    mc_dataset_close(d);
    return rc;
}
