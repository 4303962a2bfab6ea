# SPDX-License-Identifier: Apache-2.0
# mc-data npz refuses duplicate array names, also if they differ only in case.
py <<'PY'
import io, zipfile, warnings
warnings.simplefilter("ignore")
x, y = np.zeros((8, 3, 6, 6), np.uint8), np.arange(8) % 3
def twice(path, name, array):
    np.savez(path, images=x, labels=y, other=np.zeros(2))
    with zipfile.ZipFile(path, "a") as z:
        f = io.BytesIO()
        np.save(f, array)
        z.writestr(name + ".npy", f.getvalue())
for name, array in ("images", 255 - x), ("labels", y[::-1]), ("other", np.ones(2)):
    twice(name + ".npz", name, array)
twice("same.npz", "images", x)
np.savez("case.npz", images=x, Images=255 - x, labels=y)
np.savez("cases.npz", images=x, labels=y, LABELS=y[::-1])
PY
mc-data synth --samples 20 -o old.mcz
# also of arrays that it does not read: the archive is ambiguous
for n in images labels other; do mc_data_fails 3 "$n.npz: holds \"$n\" more than once" npz $n.npz; done
mc_data_fails 3 'same.npz: holds "images" more than once' npz same.npz --arrays images,labels
mc_data_fails 3 'case.npz: holds "images"*"Images"*--arrays IMAGES,LABELS' npz case.npz
mc_data_fails 3 'cases.npz: holds "labels"*"LABELS"' npz cases.npz
mc-data npz case.npz --arrays Images,labels --no-shuffle -o chosen.mcz
py <<'PY'
assert (mcz.read("chosen.mcz").tensors["images"] == 255).all()
PY
