# SPDX-License-Identifier: Apache-2.0
"""Tables of trainings, from the logs of mc-train, mc-bezier and mc-pam."""
import os

from shared import Table, deviation, events, fail, formatted, grouped, mean, names, pair_of

SAVED = (("objective", "%.4f"), ("accuracy", "%.2f"))


def epochs_of(path):
    """{objective, accuracy} of each epoch in a log."""
    epochs = [{name: float(e[name]) for name, _ in SAVED} for e in events(path, "epoch")]
    if not epochs:
        fail(f"{path}: the log has no epochs")
    return epochs


def smoothed(epochs, name):
    """(width, running mean of a number over the last `width` epochs), where width is a 25th of all epochs."""
    width = max(1, len(epochs) // 25)
    return width, [mean([e[name] for e in epochs[max(0, i + 1 - width):i + 1][::-1]])
                   for i in range(len(epochs))]


def reach(name, goal, epochs):
    """The first epoch at which the smoothed values reach the goal."""
    width, values = smoothed(epochs, name)
    sign = -1 if name == "objective" else 1
    return next((i for i, v in enumerate(values, 1) if i >= width and sign * (v - goal) >= 0), None)


def saved(all_pairs, files):
    """The epochs that alignment saves: how many epochs earlier than the unaligned curve the aligned one reaches the
    unaligned one's last training loss (and accuracy). `lead` is by how much its loss is lower, as a mean over the epochs."""
    ends = ("_pairs", "_saved", "_saved_sd") if all_pairs else ("", "_epoch", "_saved")
    head = ["network", "data", "epochs", "pairs"] if all_pairs else ["pair", "epochs"]
    for name, _ in SAVED:
        head += [name + end for end in ends]
    print(*head, "lead", *["lead_sd"] * all_pairs, sep="\t")
    reached, savings, leads = [0, 0], ([], []), []
    for pair, logs in grouped(pair_of, files).items():
        unaligned, aligned = (epochs_of(f) for f in logs)
        epochs = len(unaligned)
        line = [pair, epochs]
        for i, (name, form) in enumerate(SAVED):
            last = smoothed(unaligned, name)[1][-1]
            epoch = reach(name, last, aligned)
            reached[i] += epoch is not None
            savings[i].append(0 if epoch is None else reach(name, last, unaligned) - epoch)
            line += [form % last, formatted("%d", epoch), savings[i][-1]]
        leads.append(mean([e["objective"] for e in unaligned]) - mean([e["objective"] for e in aligned]))
        if not all_pairs:
            print(*line, "%.4f" % leads[-1], sep="\t")
    if all_pairs:
        line = [*names(), epochs, len(leads)]
        for count, epochs_saved in zip(reached, savings):
            line += [count, "%.1f" % mean(epochs_saved), formatted("%.1f", deviation(epochs_saved))]
        print(*line, "%.4f" % mean(leads), formatted("%.4f", deviation(leads)), sep="\t")


def last_epoch(path):
    """[number, objective, loss, decay, accuracy] of a log's last epoch. In a log of mc-pam this is the last epoch
    of the last curve step, counted within that step."""
    last = curve = None
    before = 0
    for e in events(path, "epoch", "permutation", "iteration"):
        if e["event"] == "epoch":
            last = e
        elif e["event"] == "permutation":
            before, last = int(last["epoch"]), curve
        else:
            curve = last
    names = ("objective", "loss", "decay", "accuracy")
    return last and [int(last["epoch"]) - before] + [float(last[name]) for name in names]


def training(all_pairs, files):
    """The last epoch's objective (the paper's training loss) and its terms, as means over the logs of one name."""
    columns = [(name, "%.4f") for name in ("objective", "loss", "decay")] + [("accuracy", "%.2f")]
    table = Table(True, ("training", "runs"), columns, count="epochs")

    def name_of_log(path):
        name = os.path.basename(path).removesuffix(".log.json")
        return "network" if name.startswith("net-") else name
    for name, logs in grouped(name_of_log, files).items():
        rows = [r for r in map(last_epoch, logs) if r]
        if rows:
            table.row((name, len(rows)), rows[-1][0], list(zip(*rows))[1:])


OBJECTIVE = ("pair", "path", "outer", "before", "relaxed", "residual", "projection", "candidates", "kept",
             "moved", "proximal_permutation", "after_permutation", "others_before", "others_after",
             "proximal_curve", "after_curve", "decrease")


def objective(all_pairs, files):
    """The objective before and after the steps of each outer iteration of mc-pam, from its logs."""
    print(*OBJECTIVE, sep="\t")

    def total(e, a, b):
        return "%.6g" % (float(e[a]) + float(e[b])) if a in e and b in e else ""

    def kept(e):
        number = int(float(e["kept"]))
        drawn = "combination" if e.get("joint") == "0" else "draw"
        return "previous" if number < 1 else "projection" if number < 2 else drawn
    for path in sum(grouped(pair_of, files).values(), []):
        key = [pair_of(path), os.path.basename(path).removesuffix(".log.json")]
        step = dict.fromkeys(OBJECTIVE, "")
        for e in events(path, "permutation", "iteration"):
            if e["event"] == "permutation":
                step.update(relaxed=total(e, "loss_relaxed", "decay_relaxed"), residual=e.get("residual", ""),
                            projection=total(e, "loss_projection", "decay_projection"), kept=kept(e),
                            candidates=e.get("candidates", ""), moved=e.get("moved", ""),
                            after_permutation=total(e, "loss", "decay"),
                            others_before=e.get("loss_others_before", ""),
                            others_after=e.get("loss_others", ""))
                continue
            step.update({name: e.get(name, "") for name in (
                "outer", "proximal_permutation", "proximal_curve", "decrease")})
            step.update(before=e.get("q_before", ""), after_curve=total(e, "loss_curve", "decay_curve"))
            print(*key, *list(step.values())[2:], sep="\t")
            step = dict.fromkeys(OBJECTIVE, "")
