#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The program mc-plot of a build or an installation; pip installs another script. See formats/python/mcz/plot."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../share/mc"))

try:
    from mcz.plot import main
except ImportError as error:
    sys.exit(f"mc-plot: cannot load the Python module '{error.name}' (pipelines/setup/install-packages.sh installs it)")

main()
