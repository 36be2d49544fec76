# SPDX-License-Identifier: Apache-2.0
"""Runs a script of unmodified/ inside one session of torch.profiler that records the GPU alone, its cheapest form: under_torch_profiler.py SCRIPT WORDS..."""

import os
import runpy
import sys

from torch.profiler import ProfilerActivity, profile

sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
with profile(activities=[ProfilerActivity.CUDA]):
    runpy.run_path(sys.argv[0], run_name="__main__")
