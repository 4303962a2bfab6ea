# SPDX-License-Identifier: Apache-2.0
#
# What `paper.mk cost` prints, from the commands that `make -n` shows: a row a part with its jobs, the hours of one job
# after another, the hours that it takes however many run side by side (what waits for one another), the greatest job's
# memory, and the disk that results take. Set before: rates (lines of rates.sh, joined by ;), nets (PART=NET=DATA ...),
# train_images, test_images and size (a side, or HEIGHTxWIDTH), where they are set, train_images always for a folder, npz
# and idx; threads, device.
BEGIN {
    if (split(size, line, "x") == 2)
        size = sqrt(line[1] * line[2])
    for (i = split(rates, line, ";"); i > 0; i--)
        if (split(line[i], word, " ") == 5) {
            training[word[1]] = word[2]
            evaluation[word[1]] = word[3]
            scratch[word[1]] = word[4] * 1e6
            bytes[word[1]] = word[5]
        }
    for (i = split(nets, line, " "); i > 0; i--) {
        split(line[i], word, "=")
        net_of[word[1]] = word[2]
        data_of[word[1]] = word[3]
    }
}
function least(a, b) { return a < b ? a : b }
function images(split_,   d) {
    d = data_of[part]
    if (split_ == "train")
        return train_images ? train_images : d == "tiny-imagenet" ? 100000 : d == "synth" ? 10000 : 50000
    return test_images ? test_images : d == "synth" ? 2000 : d ~ /^(folder|npz|idx)$/ ? train_images : 10000
}
function side() { return size ? size : data_of[part] == "tiny-imagenet" && net_of[part] != "googlenet" ? 64 : 32 }
# the value of an option of this command, the last one, or without
function option(name, without,   i) {
    for (i = words - 1; i > 0; i--)
        if (word[i] == name)
            return word[i + 1]
    return without
}
function has(name,   i) {
    for (i = 1; i <= words; i++)
        if (word[i] == name)
            return 1
    return 0
}
function steps(   at, n) {
    at = option("--attack", "")
    if (at == "")
        return 0
    n = match(at, /steps=[0-9]+/) ? substr(at, RSTART + 6, RLENGTH - 6) : 5
    return match(at, /restarts=[0-9]+/) ? n * substr(at, RSTART + 9, RLENGTH - 9) : n
}
function epochs(   e) {
    e = option("--epochs", 250)
    return least(e, option("--stop-after", e))
}
# images through the network that a measured point takes
function a_point(   i, n, bn) {
    n = 0
    for (i = 1; i < words; i++)
        if (word[i] == "--data")
            n += word[i + 1] ~ /test\.mcz$/ ? least(images("test"), option("--test-samples", 1e9)) : \
                least(images("train"), has("--full") ? 1e9 : option("--samples", 10000))
    bn = option("--bn-data", "") == "" ? 0 : least(images("train"), has("--full") ? 1e9 : option("--bn-samples", 10000))
    if (has("--bn-attack"))
        bn *= steps() + 2
    return bn + n * (steps() ? 3 * steps() + 2 : 1)
}
function job(   program, t, e, r, net, m, d, out, stage) {
    out = option("-o", "")
    if (out in made)
        return
    made[out] = 1
    net = net_of[part]
    program = word[at]
    sub(/.*\//, "", program)
    r = (32 / side()) ^ 2
    d = images("train") * 3 * side() ^ 2
    m = 0
    stage = program
    if (program == "mc-train" || program == "mc-bezier" && option("--data", "") != "" || program == "mc-pam") {
        e = epochs()
        if (program == "mc-pam") {
            e += option("--permutation-epochs", 20)
            t += 400 * least(5000, images("train")) / (evaluation[net] * r)
        }
        t += e * images("train") * (1 + steps()) / (training[net] * r)
        m = d + scratch[net] / r * (steps() ? 1.3 : 1) + bytes[net] * (program == "mc-train" ? 4 : 12)
    } else if (program == "mc-acts")
        t = 2 * option("--samples", images("train") / 5) / (evaluation[net] * r)
    else if (program == "mc-eval")
        t = (has("--plane") ? option("--grid", 17) ^ 2 : option("--points", 65)) * a_point() / (evaluation[net] * r)
    else if (program == "mc-bezier" && option("--point", "") != "")
        t = 10000 / (evaluation[net] * r)
    jobs[part]++
    seconds[part] += t
    if (m > memory[part])
        memory[part] = m
    disk[part] += program == "mc-data" ? (out ~ /test/ ? images("test") * 3 * side() ^ 2 : d) : out !~ /\.mcz$/ ? 1e4 : \
        program == "mc-pam" || program == "mc-bezier" ? 3 * bytes[net] : program == "mc-train" || program == "mc-permute" ? \
        bytes[net] : bytes[net] / 2
    if (t > slowest[part, graph, stage]) {
        chain[part] += t - slowest[part, graph, stage]
        slowest[part, graph, stage] = t
    }
}
/^echo '== / {
    split($0, word, " ")
    part = word[3]
    sub(/:$/, "", part)
    graph = word[4]
    sub(/'$/, "", graph)
    if (!(part in seen)) {
        seen[part] = 1
        order[++parts] = part
    }
    next
}
{
    whole = whole $0
    if (sub(/\\$/, " ", whole))
        next
    words = split(whole, word, " ")
    whole = ""
    for (at = 1; at <= words && at < 20; at++)
        if (word[at] ~ /^([^']*\/)?mc-[a-z]+$/) {
            job()
            break
        }
}
function hours(s) { return sprintf(s / 3600 < .095 && s ? "%.2f" : "%.1f", s / 3600) }
function row(name, n, s, c, m, d) { printf "%-32s %6d %10s %10s %10.0f %9.0f\n", name, n, hours(s), hours(c), m / 1e6, d / 1e6 }
END {
    printf "%-32s %6s %10s %10s %10s %9s\n", "part", "jobs", "hours", "at least", "memory MB", "disk MB"
    for (i = 1; i <= parts; i++) {
        p = order[i]
        row(p, jobs[p], seconds[p], chain[p], memory[p], disk[p])
        n += jobs[p]
        s += seconds[p]
        d += disk[p]
        # of a graph alone the pairs wait for the networks, and these for the data; parts do not wait
        wait = graph != "it" || p == "data" ? 1 : p ~ /^net-/ ? 2 : 3
        if (chain[p] > longest[wait])
            longest[wait] = chain[p]
        m = memory[p] > m ? memory[p] : m
    }
    row("in all", n, s, longest[1] + longest[2] + longest[3], m, d)
    printf "\nimages/s in training and evaluation, of %s threads on %s:", threads, device
    k = split(rates, line, ";")
    for (i = 1; i <= k; i++)
        if (split(line[i], word, " ") == 5)
            printf " %s=%s:%s", word[1], word[2], word[3]
    printf "\n\n"
    print "What is done already is not counted, and a job that was interrupted counts whole. hours: one job after another."
    print "make -jN does N at a time: N times the memory, and hours / N, where N times " threads " cores are free, or each job has"
    print "a device (RUN). at least: the jobs that wait for one another, however many run at a time. Rates given as"
    print "RATES=\"NET=TRAINING:EVALUATION ...\" are not measured." (graph == "it" ? "" : " Several machines: PART=... on each, with one OUT that")
    if (graph != "it") {
        print "they all see or with folders put together later; figures- and grid- go where the part is whose networks they take."
    }
}
