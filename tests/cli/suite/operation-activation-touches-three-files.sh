# SPDX-License-Identifier: Apache-2.0
# An activation is declared in three files: the list with its formula, the export of PyTorch modules and the page of modules. All
# other places are made from the list.
cd "$MC_ROOT"
files=$(grep -rlwiI elu libcommon kernels formats tools pipelines docs | grep -vE 'mcz/symmetry/|mcz/ops\.json|codecs/graph\.md|docs/dev/')
expect_equal "$(sort <<<"$files")" "docs/reference/modules.md
formats/python/mcz/export/torch_functions.py
libcommon/graph/op_list.h"
