# SPDX-License-Identifier: Apache-2.0
# mc-plot draws a plane as a smooth image that agrees with the table's points, with contour lines, none on a flat plane. The
# numbers of its colours are distinct and fit.
fixture tables
py <<'P'
from picture import *

loss, accuracy = Picture("plane", "plane.tsv").panels
for q, panel in enumerate((loss, accuracy)):
    image, = panel.axes.images
    pixels = np.asarray(image.get_array())
    assert pixels.shape >= (200, 200) and tuple(image.get_extent()) == (0, 7.5, 0, 6), (pixels.shape, image.get_extent())
    low, high = image.get_clim()
    assert np.abs(np.diff(pixels)).max() < .05 * (high - low) and np.abs(np.diff(pixels, axis=0)).max() < .05 * (high - low)
    for i in range(5):
        for j in range(4):
            value = (.5 + i * j / 5, 80 - 3 * i * j)[q]
            pixel = pixels[round(i / 4 * (len(pixels) - 1)), round(j / 3 * (len(pixels[0]) - 1))]
            assert abs(pixel - value) < .01 * (high - low), (i, j, value)
    values = [v for v, _ in numbers(panel.colours)]
    assert panel.contours == len(values) - 2 >= 2 and values == sorted(set(values)), (panel.contours, values)
# low losses and high accuracies have one colour
assert np.allclose(loss.axes.images[0].cmap(0.), accuracy.axes.images[0].cmap(1.))

# flat planes, except rounding errors around a number that may have a contour line
for first, second in ((2.302585, 50), (.3, .3), (.1, .1), (1, 1), (0, 0), (1e-9, 1e-9), (12345.67, 50), (2.302585, 100),
                      (2.302587, 99.99)):
    with open("flat.tsv", "w") as f:
        f.write("x\ty\ttest.loss\ttest.accuracy\n")
        for i in range(20):
            f.write("%d\t%d\t%r\t%r\n" % (i % 4, i // 4, first * (1 + (i % 2 - .5) * 1e-8), second * (1 + (i % 2 - .5) * 1e-8)))
    p = Picture("plane", "flat.tsv")
    p.check_texts()
    for panel in p.panels:
        texts = [t.get_text() for _, t in shown(panel.colours)]
        assert panel.contours == 0, (first, second, panel.contours)
        assert len(set(texts)) == len(texts) >= 5 and max(map(len, texts)) <= 8, (first, second, texts)
    assert max(v for v, _ in numbers(p.panels[1].colours)) <= 100 and min(v for v, _ in numbers(p.panels[0].colours)) >= 0
P
