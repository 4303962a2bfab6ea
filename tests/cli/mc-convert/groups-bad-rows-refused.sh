# SPDX-License-Identifier: Apache-2.0
# mc-convert --groups refuses wrong rows with their line number; streams with such rows are refused too.
py <<'END'
import struct
head = {"w": {"dtype": "F32", "shape": [12, 6], "data_offsets": [0, 288]}, "v": {"dtype": "F32", "shape": [12], "data_offsets": [288, 336]}}
text = json.dumps(head).encode()
open("net.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(336))
END
header='tensor axis offset count block group'
nested="$header within unit"
# refuse TEXT ROW...: a file with the header and these rows is refused
refuse() {
    printf '%s\n' "${@:2}" | tr ' ' '\t' >bad.tsv
    fails_unchanged 3 "$1" mc-convert net.safetensors --groups bad.tsv -o x.mcz
    printf '%s\0' "${@:2}" >rows
    py "$1" <<'END'
rows = open("rows").read().split("\0")[:-1]
mcz.write("bad.mcz", "weights", {"net": "n", "dataset": "", "symmetry": "".join(r.replace(" ", "\t") + "\n" for r in rows)},
          {"v": np.zeros(12, "f4"), "w": np.zeros((12, 6), "f4")})
END
    fails_unchanged 3 "bad.mcz: symmetry: *${1#bad.tsv: }" mc-permute --random 1 bad.mcz -o x.mcz
}
refuse "bad.tsv: no header (tensor, axis," '# no row'
refuse "bad.tsv: line 1:*first line*column names" 'w 0 0 12 1 g'
refuse "line 1:*first line" 'tensor axis offset count block'
refuse "line 1:*first line" "$header more"
refuse "bad.tsv: line 2:*row*6 tab-separated columns" "$header" 'w 0 0 12 1'
refuse "line 2:*row*6 tab-separated columns" "$header" 'w 0 0 12 1 g more'
refuse 'line 2: unknown tensor "x"*tied*another tensor, remove*rows*file*other names*state_dict*mcz.torch.save' "$header" 'x 0 0 12 1 g'
refuse 'line 2: unknown tensor "net.w"*wrapper added "net.", remove*rows*tied' "$header" 'net.w 0 0 12 1 g'
refuse 'line 2: axis*tensor "w"*less*2 (got 2)' "$header" 'w 2 0 12 1 g'
refuse 'line 2: axis*whole number*at least 0 (got "-1")' "$header" 'w -1 0 12 1 g'
refuse 'line 2: count*whole number*at least 2 (got "1")' "$header" 'w 0 0 1 1 g'
refuse 'line 2: count*whole number*at least 2 (got "99999999999999999999")' "$header" 'w 0 0 99999999999999999999 1 g'
refuse 'line 2: block*whole number*at least 1 (got "0")' "$header" 'w 0 0 2 0 g'
refuse 'line 2: offset*whole number*at least 0 (got "")' "$header" 'w 0  2 1 g'
refuse 'line 2: offset 1 + count 12*block 1 exceeds*12 entries*axis*tensor "w"' "$header" 'w 0 1 12 1 g'
refuse 'line 2: offset 0 + count 2000000000*block 2000000000 exceeds' "$header" 'w 0 0 2000000000 2000000000 g'
refuse 'line 2: group name*1 to 119 printable ASCII characters without spaces (got "")' "$header" 'w 0 0 2 1 '
refuse 'line 3: group "g"*6 units*12*line 2' "$header" 'w 0 0 12 1 g' 'w 1 0 6 1 g'
refuse 'line 3: overlaps line 2*not inside one*blocks' "$header" 'w 0 0 6 1 g' 'w 0 5 6 1 h'
refuse 'line 3: overlaps line 2' "$header" 'w 0 0 12 1 g' 'w 0 0 12 1 g'
refuse 'line 3: overlaps line 2' "$header" 'w 0 0 3 4 g' 'w 0 2 4 1 h'
# within units: the whole group in the unit that its columns say, and in the same way in all units
within=("$nested" 'w 0 0 2 6 g - -' 'v 0 0 2 6 g - -' 'w 0 0 6 1 h0 g 0' 'v 0 0 6 1 h0 g 0')
refuse 'line 4: group "h0" is in unit 0 of "g"*columns within and unit must say*mcz.groups.rows' \
    "$header" 'w 0 0 2 6 g' 'v 0 0 2 6 g' 'w 0 0 6 1 h0' 'v 0 0 6 1 h0'
refuse "line 1:*first line" "$header within" 'w 0 0 2 6 g -'
refuse "line 1:*first line" "$header allows" 'w 0 0 2 6 g permutation'
refuse "line 2:*row*8 tab-separated columns" "$nested" 'w 0 0 12 1 g'
refuse "line 2: unit*whole number*at least 0 (got \"-\")" "$nested" 'w 0 0 12 1 g g -'
refuse "line 2: within*a group of this file (got \"-\")" "$nested" 'w 0 0 12 1 g - 0'
refuse "line 6: within*a group of this file (got \"i\")" "${within[@]}" 'w 0 6 6 1 h1 i 1'
refuse "line 2: allows must be permutation, signed, rotation, half-turn, orthogonal or centred (got \"invertible\")" \
    "$nested allows" 'w 0 0 12 1 g - - invertible'
refuse 'line 3: group "g" allows centred here and orthogonal in line 2' "$nested allows" \
    'w 0 0 12 1 g - - orthogonal' 'v 0 0 12 1 g - - centred'
refuse 'line 4: group "g" allows permutation here and centred in line 2' "$nested allows" \
    'w 0 0 12 1 g - - centred' 'v 0 0 12 1 g - - centred' 'w 0 0 12 1 g - - permutation'
refuse 'line 4: group "g" allows orthogonal here and permutation in line 2' "$nested allows" \
    'w 1 0 6 1 g - - permutation' 'v 0 0 6 1 g - - signed' 'w 0 0 6 1 g - - orthogonal'
refuse 'line 5: group "h0" allows permutation here and signed in line 4' "$nested allows" 'w 0 0 2 6 g - - permutation' \
    'v 0 0 2 6 g - - permutation' 'w 0 0 6 1 h0 g 0 signed' 'v 0 0 6 1 h0 g 0 permutation'
refuse 'group "g": rotation requires an even number of units (got 3)' "$nested allows" 'w 0 0 3 1 g - - rotation'
refuse 'group "g" allows signed, but contains groups' "$nested allows" 'w 0 0 2 6 g - - signed' \
    'w 0 0 6 1 h0 g 0 orthogonal' 'w 0 6 6 1 h1 g 1 orthogonal'
refuse 'line 5: group "h0"*another unit*line 4' "${within[@]:0:4}" 'v 0 6 6 1 h0 g 1'
refuse 'line 5: group "h0" is not in unit 0 of "g"' "${within[@]:0:4}" 'v 0 6 6 1 h0 g 0'
refuse 'line 4: group "h0" is not in unit 2 of "g"' "${within[@]:0:3}" 'w 0 0 6 1 h0 g 2'
refuse 'line 3: group "h" is not in unit 0 of "g"' "$nested" 'v 0 0 2 6 g - -' 'w 0 0 6 1 h g 0' 'v 0 0 6 1 h g 0'
refuse 'line 2: group "g" is not in unit 0 of "g"' "$nested" 'v 0 0 2 6 g g 0'
refuse 'units*group "g" contain different groups' "${within[@]}"
refuse 'line 6: group "h1"*counterpart*"g"' "${within[@]}" 'w 0 6 6 1 h1 g 1'
refuse 'group "h1": invalid nesting' "${within[@]}" 'w 0 6 3 2 h1 g 1' 'v 0 6 3 2 h1 g 1'
# so too for groups within these: two groups that change places carry them along
deep=("$nested" 'w 0 0 2 6 g - -' 'w 0 0 2 3 h0 g 0' 'w 0 6 2 3 h1 g 1' 'w 0 0 2 1 i00 h0 0' 'w 0 3 2 1 i01 h0 1')
refuse 'group "h1": invalid nesting' "${deep[@]}"
refuse 'line 5: group "i00" is in unit 0 of "h0"' "${deep[@]:0:4}" 'w 0 0 2 1 i00 g 0' 'w 0 3 2 1 i01 g 0'
refuse 'line 7: group "i10"*counterpart*"h1"' "${deep[@]}" 'w 0 7 2 1 i10 h1 0' 'w 0 10 2 1 i11 h1 1'
refuse 'line 8: group "i11"*counterpart*"h1"' "${deep[@]}" 'w 0 6 2 1 i10 h1 0' 'w 0 10 2 1 i11 h1 1'
printf '%s\n' "${deep[@]}" 'w 0 6 2 1 i10 h1 0' 'w 0 9 2 1 i11 h1 1' | tr ' ' '\t' >good.tsv
mc-convert net.safetensors --groups good.tsv -o net.mcz
printf '%s\n' "${within[@]}" 'w 0 6 6 1 h1 g 1' 'v 0 6 6 1 h1 g 1' | tr ' ' '\t' >good.tsv
mc-convert net.safetensors --groups good.tsv -o net.mcz

# parts of axis 0: w has 12 rows of 6
refuse 'line 2: axis*AXIS/PARTS*AXIS at least 1*at least 2 parts*counted over parts*axis 0 (got "0/2")' \
    "$header" 'w 0/2 0 6 1 g'
for axis in 1/1 1/ 1/x 1/2/2 1/99999999999; do refuse "line 2: axis*AXIS/PARTS" "$header" "w $axis 0 6 1 g"; done
refuse 'line 2: axis*tensor "w"*less*2 (got 2)' "$header" 'w 2/2 0 6 1 g'
refuse 'line 2: axis*whole number*at least 0 (got "/2")' "$header" 'w /2 0 6 1 g'
refuse 'line 2: axis*tensor "v"*less*1 (got 1)' "$header" 'v 1/2 0 6 1 g'
for n in 5 24; do
    refuse "line 2: axis 0*tensor \"w\"*12 entries*not have $n equal parts" "$header" "w 1/$n 0 6 1 g"
done
refuse 'line 2: offset 18 + count 7*block 1 exceeds*24 entries*axis*tensor "w"' "$header" 'w 1/4 18 7 1 g'
refuse 'line 2:*row*within one*4 parts*6 entries each' "$header" 'w 1/4 5 2 1 g'
refuse 'line 2: axis 1*counted over*same parts*line 3' "$header" 'w 1/4 0 3 1 g' 'w 1/2 3 3 1 h'
refuse 'line 3: axis 1*counted over*same parts*line 2' "$header" 'w 1 0 3 1 g' 'w 1/2 3 3 1 h'
refuse 'line 3: moves entries between*parts*line 2' "$header" 'w 1/4 0 6 1 g' 'w 0 0 12 1 h'
refuse 'line 2: moves entries between*parts*line 3' "$header" 'w 0 1 2 3 h' 'w 1/4 0 6 1 g'
refuse 'line 3: overlaps line 2' "$header" 'w 1/4 6 4 1 g' 'w 1/4 9 2 1 h'
parts=("$nested" 'w 0 0 2 6 g - -' 'w 1/2 0 6 1 h0 g 0')
refuse 'line 3: group "h0" is in unit 0 of "g"' "$header" 'w 0 0 2 6 g' 'w 1/2 0 6 1 h0'
refuse 'units*group "g" contain different groups' "${parts[@]}"
refuse 'line 4: group "h0" is not in unit 0 of "g"' "${parts[@]}" 'v 0 0 6 1 h0 g 0'
refuse 'line 4: group "h1"*counterpart*"g"' "$nested" 'w 0 0 2 6 g - -' 'w 1/4 0 3 1 h0 g 0' 'w 1/4 15 3 1 h1 g 1'
# one order in all units of a row, or in some of three
all=("$header" 'w 0 0 3 4 g' 'w 0 0 4 1 h' 'w 0 4 4 1 h')
refuse 'line 4: group "h" is in unit 1 of "g"' "${all[@]}"
refuse 'line 4: group "h" is in unit 1 of "g"*unless*in all units' "$header" 'w 0 0 3 4 g' 'w 0 0 3 1 h' 'w 0 4 3 1 h' 'w 0 9 3 1 h'
# units 0 and 1 have it on different axes
refuse 'line 3: group "h" is in unit 0 of "g"' "$header" 'w 0 0 2 6 g' 'w 0 0 6 1 h' 'w 1/2 6 6 1 h'
for rows in '' 'v 0 3 4 1 h'; do
    printf '%s\n' "${all[@]}" 'w 0 8 4 1 h' "$rows" | tr ' ' '\t' >good.tsv
    mc-convert net.safetensors --groups good.tsv -o net.mcz
done
printf '%s\n' "${parts[@]}" 'w 1/2 6 6 1 h1 g 1' | tr ' ' '\t' >good.tsv
mc-convert net.safetensors --groups good.tsv -o net.mcz
printf '%s\n' "${within[@]}" 'w 0 6 6 1 h1 g 1' 'v 0 6 6 1 h1 g 1' | tr ' ' '\t' >good.tsv
mc-convert net.safetensors --groups good.tsv -o net.mcz

printf 'tensor\0' >bad.tsv
fails_unchanged 3 "bad.tsv: not a text" mc-convert net.safetensors --groups bad.tsv -o x.mcz
head -c 2100000 /dev/zero | tr '\0' '#' >bad.tsv
fails_unchanged 3 "bad.tsv: not a text*at most" mc-convert net.safetensors --groups bad.tsv -o x.mcz
fails_unchanged 1 "nothing.tsv" mc-convert net.safetensors --groups nothing.tsv -o x.mcz
usage_error "one*--like WEIGHTS.mcz, --groups FILE.tsv*--net NAME with --data FILE.mcz*required" mc-convert net.safetensors -o x.mcz
usage_error "is required" mc-convert net.safetensors --groups good.tsv --like net.mcz -o x.mcz
usage_error "--groups*no effect: net.mcz contains*network" mc-convert net.mcz --groups good.tsv -o x.npz
py <<'END'
import msgpack
rows = mcz.read("net.mcz").meta["symmetry"]
w = {"v": np.zeros(12, "f4"), "w": np.zeros((12, 6), "f4")}
meta = {"net": "n", "dataset": ""}
mcz.write("number.mcz", "weights", {**meta, "symmetry": 3}, w)
mcz.write("double.mcz", "weights", {**meta, "symmetry": rows}, {k: v.astype(float) for k, v in w.items()})
mcz.write("fewer.mcz", "weights", {**meta, "symmetry": rows}, {"w": w["w"]})
groups = [{"name": n, "size": s} for n, s in (("g", 2), ("h0", 6), ("h1", 6))]
for name, changes in (("ok", {}), ("itself", {1: {"within": 1, "unit": 0}}), ("above", {1: {"within": 0, "unit": 2}}),
                      ("nested", {i: {"within": 0, "unit": i - 1} for i in (1, 2)}),
                      ("other", {i: {"within": 0, "unit": 2 - i} for i in (1, 2)}),
                      ("alone", {1: {"within": 0, "unit": 0}}), ("none", {1: {"within": 7, "unit": 0}})):
    g = [dict(x, **changes.get(i, {})) for i, x in enumerate(groups)]
    mcz.write("p-%s.mcz" % name, "permutation", {"groups": g}, {x["name"]: np.arange(x["size"], dtype="i4") for x in g})

# 3 groups of 2 units; the units of one of the two inner groups contain groups
g = [{"name": "g", "size": 2}] + [{"name": "h%d" % i, "size": 2, "within": 0, "unit": i} for i in range(2)]
g += [{"name": "i%d_%d" % (i, k), "size": 2, "within": 1, "unit": i} for i in range(2) for k in range(50)]
mcz.write("p-deep.mcz", "permutation", {"groups": g}, {x["name"]: np.arange(2, dtype="i4")[::-1].copy() for x in g})
END
fails_unchanged 3 'p-deep.mcz: group "h1": invalid nesting' mc-permute --inverse p-deep.mcz -o x.mcz
fails_unchanged 3 'number.mcz: "symmetry"*not a string' mc-permute --random 1 number.mcz -o x.mcz
fails_unchanged 3 'double.mcz: tensor "v" must*float32' mc-permute --random 1 double.mcz -o x.mcz
fails_unchanged 3 'fewer.mcz: symmetry: line 3: unknown tensor "v"' mc-permute --random 1 fewer.mcz -o x.mcz
for p in itself above; do
    fails_unchanged 3 "p-$p.mcz: group \"h0\": invalid nesting" mc-permute --inverse p-$p.mcz -o x.mcz
done
fails_unchanged 3 'p-alone.mcz:*units*group "g" contain different groups' mc-permute p-alone.mcz net.mcz -o x.mcz
fails_unchanged 3 'p-none.mcz' mc-permute --inverse p-none.mcz -o x.mcz
# without a record of nested groups the stream is accepted, but not composed with one that has them
mc-permute p-ok.mcz net.mcz | same_content - net.mcz
mc-permute p-nested.mcz net.mcz | same_content - net.mcz
fails_unchanged 3 'p-other.mcz:*another network: group "h0"*nested*another unit' \
    mc-permute p-other.mcz net.mcz -o x.mcz
mc-permute --identity net.mcz -o one.mcz
fails_unchanged 3 'permutations nest group' mc-permute --compose p-ok.mcz one.mcz -o x.mcz
