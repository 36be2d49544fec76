# SPDX-License-Identifier: Apache-2.0
"""python -m libgpuprof: the same as the command gpuprof."""
from ._command import main

main()
