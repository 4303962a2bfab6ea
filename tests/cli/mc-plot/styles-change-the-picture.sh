# SPDX-License-Identifier: Apache-2.0
# --style changes mc-plot's pictures by a style of matplotlib or a file, the last one first; a matplotlibrc does too, below them.
# An unknown style is a usage error. -v prints which settings were used.
fixture tables

printf 'lines.linewidth: 7\naxes.facecolor: "#123456"\n' >thick.mplstyle
printf 'lines.linewidth: 1\naxes.facecolor: "#654321"\naxes.grid: False\n' >matplotlibrc-user
py <<'P'
from picture import *

def look(*options):
    p = Picture("path", "line.tsv", "curve.tsv", *options)
    p.check_texts()
    axes = p.panels[0].axes
    grid = axes.xaxis.get_gridlines()[0].get_visible()
    return to_hex(axes.get_facecolor()), axes.lines[0].get_linewidth(), p.panels[0].lines[0].colour, grid

own = look()
assert own[0] == "#ffffff" and own[2:] == (FIRST, True), own
ggplot = look("--style", "ggplot")
assert ggplot[0] == "#e5e5e5" and ggplot[2] == "#e24a33", ggplot
assert look("--style", "ggplot", "--style", "./thick.mplstyle") == ("#123456", 7, "#e24a33", True)
assert look("--style=thick.mplstyle", "--style=ggplot")[:2] == ("#e5e5e5", 7)
os.environ["MATPLOTLIBRC"] = "matplotlibrc-user"
assert look() == ("#654321", 1, FIRST, False), look()
assert look("--style", "thick.mplstyle") == ("#123456", 7, FIRST, False), look("--style", "thick.mplstyle")
# texts have room in other styles
del os.environ["MATPLOTLIBRC"]
for style in "dark_background", "seaborn-v0_8-poster", "classic":
    look("--style", style)
    Picture("signature", "sig.tsv", "--style", style).check_texts()
    Picture("plane", "plane.tsv", "path.tsv", "--style", style).check_texts()
P

mc-plot path line.tsv -o own.png
mc-plot path --style ggplot line.tsv -o ggplot.png
MATPLOTLIBRC=matplotlibrc-user mc-plot path line.tsv -o user.png
MATPLOTLIBRC=matplotlibrc-user mc-plot path -v --style thick.mplstyle line.tsv -o both.png 2>settings
expect_equal "$(cksum own.png ggplot.png user.png both.png | cut -d ' ' -f 1 | sort -u | wc -l)" 4
version=$(py <<<'import matplotlib; print(matplotlib.__version__)')
expect_equal "$(<settings)" "mc-plot: matplotlib $version, matplotlibrc-user"
usage_error "--style: 'ggplt' is neither a file nor a style of matplotlib, did you mean 'ggplot'?" mc-plot path line.tsv --style ggplt -o x.svg
usage_error "--style: 'none.mplstyle' is neither a file" mc-plot path line.tsv --style none.mplstyle -o x.svg
usage_error "--style: '' is neither a file" mc-plot path line.tsv --style= -o x.svg
