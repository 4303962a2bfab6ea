# SPDX-License-Identifier: Apache-2.0
# compare.py keeps its verdicts and intervals: on 60 cells from another implementation, on SciPy's own intervals, and on the
# published cells.
PYTHONPATH=$MC_ROOT/pipelines/paper:$PYTHONPATH py <<'END_OF_PY'
import cells
# ours: mean, deviation, number; the paper's mean and deviation over 3; digits after the point, effect of alignment, sources
# of a deviation; verdict, interval, 1 if ours can agree. Computed by incomplete beta functions in awk.
judged = """
61.622	0.001	3	61.5	0.0	1	0.2	1	differs	0.054093631	0.18990637	0
71.80	4.98	2	77	1	0	17	2	undecided	-19.663211	9.2632106	1
20.718	0.004	3	21.1	0.3	1	2.1	1	undecided	-1.1035858	0.33958579	0
86.54311	0.00498	5	86.543	0.006	3	0.039	1	undecided	-0.011719592	0.011939592	0
70.271	0.006	3	70.2	0.5	1	3.8	1	undecided	-1.1558445	1.2978445	1
87.4122		1	87.38	0.02	2	0.39	2	undecided			1
60.5440	0.0140	3	60.55	0.07	2	0.23	1	undecided	-0.17050679	0.15850679	0
40.205	0.106	3	39.8	0.6	1	2.7	1	undecided	-1.0163145	1.8263145	0
33.96	3.24	3	39	5	0	23	1	undecided	-15.237945	5.1579451	0
52.9597	0.0268	5	52.97		2	0.25	1	agrees	-0.043135441	0.022535441	1
81.1121	0.0330	5	81.10	0.06	2	0.33	1	undecided	-0.1138479	0.1380479	0
155.4		1	100	71	-1	243	2	undecided			0
58.9493	0.0349	3	59.00	0.02	2	0.09	1	undecided	-0.12161676	0.020216762	0
82.2405	0.0325	4	82.23	0.00	2	0.05	1	undecided	-0.04000959	0.06100959	1
72.5633	0.0465	2	72.58	0.01	2	0.06	2	undecided	-0.15091922	0.11751922	0
49.53539		1	49.536	0.002	3	0.018	1	undecided			1
36.1859	0.0392	3	36.15	0.01	2	0.03	1	undecided	-0.052404877	0.12420488	0
85.79892		1	85.795		3	0.019	1	undecided			1
51.05	0.31	4	55	6	0	38	1	undecided	-18.688355	10.788355	0
80.3298	0.0011	3	80.35	0.03	2	0.25	1	undecided	-0.092254855	0.051854855	1
51.05	0.01	3	51	5	0	5	1	undecided	-12.220761	12.320761	0
27.22	0.01	2	33	1	0	25	1	differs	-7.8898112	-3.6701888	1
72.74041	0.00003	5	72.742	0.004	3	0.040	1	agrees	-0.01134242	0.0081624203	1
26.14376	0.00257	3	26.143	0.003	3	0.008	2	undecided	-0.0045487815	0.0060687815	0
33.89233	0.00020	3	33.893		3	0.023	2	differs	-0.0012829056	-5.7094438e-05	1
51.668		1	51.6	0.2	1	0.7	1	undecided			0
54.071	0.059	5	54.1		1	0.7	1	agrees	-0.11076865	0.052768653	1
49.2130	0.0042	3	49.19	0.01	2	0.24	2	differs	0.0064772279	0.039522772	1
65.19	3.51	5	70	1	0	6	2	differs	-8.5770572	-1.0429428	0
26.1509	0.0151	2	26.11	0.02	2	0.23	1	agrees	-0.010255514	0.092055514	1
51.226	0.000	3	50.7	0.3	1	1.0	1	undecided	-0.1957446	1.2477446	0
21.6450	0.0000	4	21.62	0.07	2	0.10	1	undecided	-0.14780062	0.19780062	0
84.02659	0.00058	2	84.024	0.006	3	0.010	1	undecided	-0.011921461	0.017101461	0
19.50		1	23	8	0	39	1	undecided			0
90.104	0.117	3	89.6	0.5	1	3.6	2	agrees	-0.28809387	1.2960939	1
43.3199	0.0602	2	43.31	0.01	2	0.11	2	undecided	-0.16736285	0.18716285	1
78.634	0.087	4	79.2	0.3	1	3.3	1	agrees	-1.2415853	0.10958532	1
106.6	2.0	2	100	22	-1	108	1	undecided	-44.417099	57.617099	0
27.95404	0.00225	5	27.960	0.002	3	0.006	1	differs	-0.0099646126	-0.0019553874	0
34.78633	0.00484	3	34.782	0.008	3	0.020	1	undecided	-0.012008889	0.020668889	0
26.23851	0.00005	2	26.242	0.006	3	0.027	1	undecided	-0.018266489	0.011286489	0
87.819	0.550	3	88.0	0.6	1	0.6	2	undecided	-1.2674152	0.90541521	0
34.5655		1	34.51		2	0.25	1	undecided			1
82.57049	0.00558	3	82.568		3	0.014	1	undecided	-0.011217541	0.016197541	1
47.743		1	48.0	0.8	1	3.7	2	undecided			0
76.053	0.021	2	76.2		1	3.5	1	differs	-0.21418019	-0.079819806	1
61.82	0.38	3	61		0	37	1	differs	0.046810959	1.593189	1
37.05	3.13	2	37	6	0	19	1	undecided	-13.066541	13.166541	0
66.91103		1	66.915		3	0.018	1	undecided			1
28.70811	0.00672	5	28.709	0.006	3	0.027	1	undecided	-0.012843237	0.011063237	0
70.739	0.108	5	70.8	0.6	1	0.1	2	undecided	-1.017383	0.89538296	0
83.904	0.037	3	83.4	0.6	1	2.1	1	undecided	-0.96626936	1.9742694	0
152.5	17.2	3	100	64	-1	333	1	undecided	-93.071815	198.07182	0
35.0982	0.0128	3	35.06	0.03	2	0.18	2	undecided	-0.0093015455	0.085701546	0
81.7619	0.0716	3	81.71	0.03	2	0.07	1	undecided	-0.10021244	0.20401244	0
77.74	0.42	2	75	3	0	21	2	agrees	-2.0310525	7.5110525	1
48.51500	0.00327	5	48.510	0.001	3	0.003	1	differs	0.00098307792	0.0090169221	0
84.77940	0.00256	5	84.775	0.003	3	0.012	1	undecided	-0.0014977376	0.010297738	0
22.4070	0.0289	2	22.43	0.01	2	0.23	1	undecided	-0.20340274	0.15740274	1
84.2265	0.0220	3	84.28	0.04	2	0.10	1	undecided	-0.13542434	0.028424342	0
"""
for text in judged.strip("\n").split("\n"):
    m, s, n, paper_m, paper_s, digits, effect, sources, word, low, high, can = text.split("\t")
    def sample(mean, sd, n):
        return cells.Sample(float(mean), float(sd) if sd else None, float(n), int(sources))
    paper = sample(paper_m, paper_s, 3)
    got, span = cells.verdict(sample(m, s, n), paper, int(digits), float(effect))
    assert got == word and cells.can_agree(paper, int(digits), float(effect)) == bool(int(can)), (text, got)
    assert np.allclose(span, [float(low), float(high)], rtol=2e-7, atol=1e-7) if low else not span, (text, span)

# two means, deviations and numbers, unit of the last digit, interval, sources of each deviation: by SciPy 1.10 alone
for text in """88.46 .05 3 88.5 .1 3 .1 -0.232097 0.152097 1 1
82.75 .5 3 82.8 .5 3 .1 -1.181875 1.081875 1 1
.4301 .0021 3 .428 .003 3 .001 -0.004008 0.008208 1 1
92.31 .31 2 92.7 0 3 .1 -2.984518 2.204518 1 1
92.7 0 3 92.7 0 3 .1 -0.056579 0.056579 1 1
88.82 .15 3 89.0 .1 3 .1 -0.428635 0.068635 2 2
88.5 .15 3 89.0 .1 3 .1 -0.789335 -0.210665 1 2""".split("\n"):
    m1, s1, n1, m2, s2, n2, unit, low, high, k1, k2 = map(float, text.split())
    got = cells.interval(cells.Sample(m1, s1, n1, k1), cells.Sample(m2, s2, n2, k2), unit ** 2 / 12)
    assert np.allclose(got, [low, high], rtol=0, atol=1e-6), (text, got)
assert not cells.interval(cells.Sample(1, None, 1), cells.Sample(1, .1, 3))
END_OF_PY

# the published cells at the paper's length
"$MC_ROOT/pipelines/paper/compare.py" cells -f tsv "$MC_ROOT/pipelines/paper/published" >cells
awk -F '\t' '$9 != "" && $17 ~ /^(agrees|differs|undecided)$/ { print $1, $2, $3, $4, $5, $17 }' cells | diff - /dev/fd/3 3<<"END_OF_CELLS"
table1 tinyten cifar10 network ends agrees
table1 tinyten cifar100 network ends undecided
table1 tinyten cifar10 curve-unaligned arc_mean agrees
table1 tinyten cifar10 curve-unaligned minimum undecided
table1 tinyten cifar100 curve-unaligned arc_mean agrees
table1 tinyten cifar100 curve-unaligned minimum undecided
table1 tinyten cifar10 curve-pam-unaligned arc_mean differs
table1 tinyten cifar10 curve-pam-unaligned minimum differs
table1 tinyten cifar10 curve-pam-aligned arc_mean agrees
table1 tinyten cifar10 curve-pam-aligned minimum agrees
table1 tinyten cifar10 curve-aligned arc_mean agrees
table1 tinyten cifar10 curve-aligned minimum agrees
table1 tinyten cifar100 curve-aligned arc_mean undecided
table1 tinyten cifar100 curve-aligned minimum agrees
table2 tinyten cifar10 curve-unaligned objective agrees
table2 tinyten cifar100 curve-unaligned objective agrees
table2 tinyten cifar10 curve-aligned objective agrees
table2 tinyten cifar100 curve-aligned objective agrees
text tinyten cifar100 curve-aligned accuracy_saved differs
END_OF_CELLS
# each cell of the published tables, those without a number of the paper too
expect_equal "$(awk -F '\t' '$6 != "" { print $1, $2, $3, $4, $5, $6, $7, $8, $14, $17 }' cells | sort | cksum)" '2551786480 11364'
