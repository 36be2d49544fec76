# SPDX-License-Identifier: Apache-2.0
"""gpuprof: a GPU profiler that lives inside the process."""

__version__ = "0.1.0"
