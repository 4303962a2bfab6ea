# SPDX-License-Identifier: Apache-2.0
#
# A text whose tables and numbers come from .tsv files of MADE, or where they are not there, of FOLDER, or of PAPER:
#
#   MADE=TMP FOLDER=paper/results PAPER=paper/published awk -f results.awk paper/results/text.md
#
# A line `<!-- table: FILE -->` becomes that table; `<!-- table: FILE; COLUMN=TEXT; COLUMN!=TEXT; show=a,b -->` its rows
# that satisfy all of these, with the columns that `show` names, or "None." where no row does; form=%.2f prints its
# decimals so. A column a_sd is shown in column a, as "1.0 ± 0.1". {{FILE; COLUMN=TEXT}} becomes the number of such rows,
# {{FILE; COLUMN=TEXT; value=COLUMN}} that column of the one such row; {{...; form=%.1f}} prints it so.
function bad(text) {
    printf "results.sh: %s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    exit status = 3
}
# reads FILE once: cells[file, row, column], rows[file], columns[file], at[file, title]; row 0 has the titles
function load(file,   path, line, n, i, part, got) {
    if (file in rows)
        return
    path = ENVIRON["MADE"] "/" file
    got = (getline line < path)
    if (got < 0) {
        path = ENVIRON["FOLDER"] "/" file
        got = (getline line < path)
    }
    if (got < 0) {
        path = ENVIRON["PAPER"] "/" file
        got = (getline line < path)
    }
    if (got < 0)
        bad("there is no table '" file "'")
    for (n = 0; got > 0; n++) {
        columns[file] = split(line, part, "\t")
        for (i = 1; i <= columns[file]; i++) {
            cells[file, n, i] = part[i]
            if (n == 0 && (file, part[i]) in at)
                bad("'" file "' has two columns '" part[i] "'")
            if (n == 0)
                at[file, part[i]] = i
        }
        if (n == 0)
            width = columns[file]
        else if (columns[file] != width)
            bad("'" file "', line " n + 1 ": " columns[file] " columns, the first line has " width)
        got = (getline line < path)
    }
    close(path)
    rows[file] = n - 1
}
function column(file, title) {
    if (!((file, title) in at))
        bad("'" file "' has no column '" title "'")
    return at[file, title]
}
# what stands between the brackets: file, and the rows that it picks in row[1..picked]; show, value, form where given
function pick(text,   part, n, i, r, k, not_, wanted) {
    n = split(text, part, "; ")
    file = part[1]
    load(file)
    show = value = form = ""
    picked = 0
    for (r = 1; r <= rows[file]; r++)
        out[r] = 0
    for (i = 2; i <= n; i++) {
        k = index(part[i], "=")
        wanted = substr(part[i], k + 1)
        if (k < 2)
            bad("'" part[i] "': COLUMN=TEXT is wanted")
        else if (part[i] ~ /^show=/)
            show = wanted
        else if (part[i] ~ /^value=/)
            value = wanted
        else if (part[i] ~ /^form=/)
            form = wanted
        else {
            not_ = substr(part[i], k - 1, 1) == "!"
            k = column(file, substr(part[i], 1, k - 1 - not_))
            for (r = 1; r <= rows[file]; r++)
                if ((cells[file, r, k] == wanted) == not_)
                    out[r] = 1
        }
    }
    for (r = 1; r <= rows[file]; r++)
        if (!out[r])
            row[++picked] = r
}
function table(text,   n, i, j, c, k, title, line, sd) {
    pick(text)
    if (!picked) {
        print "None."
        return
    }
    n = split(show, title, ",")
    if (show == "")
        for (c = 1; c <= columns[file]; c++) {
            k = cells[file, 0, c]
            if (!(sub(/_sd$/, "", k) && (file, k) in at))
                title[++n] = k
        }
    row[0] = 0
    for (j = 0; j <= picked; j++) {
        line = "|"
        for (i = 1; i <= n; i++) {
            k = cells[file, row[j], column(file, title[i])]
            if (j && form != "" && k ~ /^-?[0-9]*\.[0-9]+$/)
                k = sprintf(form, k)
            if (j && (file, title[i] "_sd") in at && (sd = cells[file, row[j], at[file, title[i] "_sd"]]) != "")
                k = k " ± " sd
            gsub(/\|/, "\\|", k)
            line = line (k == "" ? "" : " ") k " |"
        }
        print line
        if (j == 0) {
            line = "|"
            for (i = 1; i <= n; i++)
                line = line " --- |"
            print line
        }
    }
}
function number(text,   k) {
    pick(text)
    if (value == "")
        return picked
    if (picked != 1)
        bad("'" text "': " picked " rows, one is wanted")
    k = cells[file, row[1], column(file, value)]
    return form == "" ? k : sprintf(form, k)
}
/^<!-- table: .* -->$/ {
    table(substr($0, 13, length($0) - 16))
    next
}
{
    while (match($0, /[{][{][^}]*[}][}]/))
        $0 = substr($0, 1, RSTART - 1) number(substr($0, RSTART + 2, RLENGTH - 4)) substr($0, RSTART + RLENGTH)
    print
}
