#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the given source files with clang-tidy, as `tools/test.sh tidy` checks all: for pre-commit.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib_setup.sh"

find_clang_tidy
commands="$root/build/tidy-files/compile_commands.json"
for file in "$@"; do
  grep -qs "/$file\"" "$commands" && continue  # it is known how to compile it
  find_cuda
  stage "Configuring (tidy-files)" configure_preset tidy-files
  break
done
cd "$root" && exec "$clang_tidy/clang-tidy" -quiet -p build/tidy-files "$@"
