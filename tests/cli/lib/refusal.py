# SPDX-License-Identifier: Apache-2.0
"""Expect mcz to refuse something."""
import mcz


def expect_error(words, call):
    """Check that call() raises mcz.Error with a message that contains the text, or all of several."""
    words = [words] if isinstance(words, str) else words
    try:
        call()
    except mcz.Error as e:
        assert all(w in str(e) for w in words), e
    else:
        assert False, "not refused: %s" % words
