# SPDX-License-Identifier: Apache-2.0
# The script of docs/guides/logs.md writes TensorBoard events with every number of a log's epochs.
need_torch 1.13 tensorboard
mc-data synth --samples 200 --size 8 -o d.mcz
mc-train -q -t 1 --net mlp:8 --data d.mcz --val d.mcz --epochs 3 --log-json a.log.json -o a.mcz
sed -n '/^# events.py$/,/^```$/{/^```$/!p}' "$MC_ROOT/docs/guides/logs.md" >events.py
$python events.py a.log.json 2>errors || die "$(cat errors)"
$python - 2>errors <<'END' || die "$(cat errors)"
import json
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator("runs/a.log.json")
events.Reload()
records = [json.loads(line) for line in open("a.log.json")]
assert {"loss", "val_accuracy"} <= set(events.Tags()["scalars"]) == set(records[0]) - {"event", "epoch"}
for name in events.Tags()["scalars"]:
    written = [(s.step, s.value) for s in events.Scalars(name)]
    assert [s for s, _ in written] == [1, 2, 3], written
    assert all(abs(v - r[name]) <= 1e-6 * abs(v) for (_, v), r in zip(written, records)), (name, written)
END
