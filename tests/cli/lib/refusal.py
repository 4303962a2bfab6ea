# SPDX-License-Identifier: Apache-2.0
"""Expect mcz to refuse something."""
import re

import mcz


def has_words(text, words):
    """Return true if the text contains the words. "*" in them is any text. Numbers are whole: "4 images" is not in "14 images"."""
    whole = [r"(?<!\d)" * w[:1].isdigit() + re.escape(w) + r"(?!\d)" * w[-1:].isdigit() for w in words.split("*")]
    return re.search(".*".join(whole), str(text)) is not None


def expect_error(words, call):
    """Check that call() raises mcz.Error with a message that has the words, or all of several."""
    words = [words] if isinstance(words, str) else words
    try:
        call()
    except mcz.Error as e:
        assert all(has_words(e, w) for w in words), e
    else:
        assert False, "not refused: %s" % words
