# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest, which pytest loads wherever the package is installed."""
