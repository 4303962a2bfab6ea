# SPDX-License-Identifier: Apache-2.0
"""A test's claim that mcz refuses something, in these words."""
import mcz


def says(words, call):
    """call() raises mcz.Error, whose sentence has all of the words."""
    try:
        call()
    except mcz.Error as e:
        assert all(w in str(e) for w in words), e
    else:
        assert False, "not refused: %s" % words
