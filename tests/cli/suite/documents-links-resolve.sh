# SPDX-License-Identifier: Apache-2.0
# Every relative link and anchor in a page leads somewhere, and every page that a source, message or page names exists.
mkdir -p planted/docs
cat >planted/docs/a.md <<'EOF'
# A `b_c`, [d](a.md)
## Twice
## Twice
[ok](a.md#a-b_c-d) [ok](#twice-1) ![ok](../docs/a.md) `[code](none.md)`
[wrong](none.md) [wrong](#twice-2) docs/none.md
EOF
cat >links.py <<'EOF'
import os, re, sys
os.chdir(sys.argv[1])
TOPS = "docs formats kernels libcommon pipelines tests tools .ci".split()
TEXTS = tuple(".c .h .cu .cuh .cc .py .sh .bash .mk .gp .md .map .txt".split())

def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()

def prose(text):
    """A page without code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))

def anchors(path):
    """GitHub's anchors: headings in lower case without punctuation, blanks as hyphens; repeated ones are numbered."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", re.sub(r"^```.*?^```", "", read(path), flags=re.S | re.M), re.M):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        found.add(next(n for n in [name] + [name + "-%d" % i for i in range(1, 99)] if n not in found))
    return found

def fault(path, target, folder):
    file, _, anchor = target.partition("#")
    file = os.path.normpath(os.path.join(folder, file)) if file else path
    if not os.path.exists(file):
        return "is missing"
    return "has no such anchor" if anchor and file.endswith(".md") and anchor not in anchors(file) else None

checked, faults = 0, []
names = sorted(os.path.join(folder, n) for top in TOPS for folder, _, files in os.walk(top) for n in files)
for path in sorted(n for n in os.listdir(".") if os.path.isfile(n)) + names:
    if not path.endswith(TEXTS) and "." in os.path.basename(path):
        continue
    text, targets = read(path), []
    if path.endswith(".md") and not path.startswith("pipelines/paper/results/"):  # make results writes these to docs/results/
        links = re.findall(r"\]\(([^)\s]+)\)", prose(text)) + re.findall(r"^\[[^\]]+\]: *(\S+)", prose(text), re.M)
        targets = [(link, os.path.dirname(path)) for link in links if not re.match(r"\w+:", link)]
    if path not in ("CHANGELOG.md", "tests/cli/suite/documents-links-resolve.sh"):  # name pages of old versions, or none
        plain = re.sub(r"\w+://\S+", "", text)
        pages = re.findall(r"(?<![\w-])((?:docs/[\w./-]*+|formats/[\w./-]+\.md)(?!\\)(?:#[\w-]+)?)", plain)
        targets += [(page.rstrip(".-"), "") for page in pages if "KIND" not in page]
    checked += len(targets)
    faults += ["%s: %s %s" % (path, t, f) for t, folder in targets for f in [fault(path, t, folder)] if f]
print("\n".join(dict.fromkeys(faults)) or "%d links" % checked)
EOF
/usr/bin/python3 links.py planted >found
expect_equal "$(<found)" "docs/a.md: none.md is missing
docs/a.md: #twice-2 has no such anchor
docs/a.md: docs/none.md is missing"
/usr/bin/python3 links.py "$MC_ROOT" >found
[[ $(<found) =~ ^[0-9]{3,}\ links$ ]] || die "$(<found)"
