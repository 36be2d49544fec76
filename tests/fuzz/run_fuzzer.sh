#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_fuzzer.sh PROGRAM NAME: fuzzes for $FUZZ_SECONDS (20), from the inputs in seeds/NAME. What it finds new stays in corpus/NAME.
set -eu
mkdir -p "corpus/$2"
exec "$1" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$PWD/$2-" "corpus/$2" "seeds/$2"
