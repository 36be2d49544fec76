#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the libraries that draw the pages of `gpuprof report` (ECharts 6.0.0, Tabulator 6.4.0), out of a wheel of PyPI that
# brings them along, and checks that they are those which were tried. A build takes them from build/report-js.
#
#   tools/fetch_report_js.sh [FOLDER]
set -euo pipefail

sums="$(cd "$(dirname "$0")" && pwd)/report_js.sha256"
target="${1:-$(dirname "$0")/../build/report-js}" wheel='panel==1.9.4' inside=panel/dist/bundled

give_up() {
  printf '%s\n' "ECharts and Tabulator could not be fetched from PyPI: $1. gpuprof report is left out." \
    "Set GPUPROF_REPORT_JS_DIR to a folder with echarts.min.js, tabulator.min.js and tabulator.min.css." >&2
  exit 1
}

mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
flock 9
[ ! -e "$target/complete" ] || exit 0
rm -rf "$target"
mkdir -p "$target/wheel"
python3 -c 'import ensurepip' 2>/dev/null || give_up "python3 has no ensurepip (apt-get install python3-venv)"
python3 -m venv "$target/venv"
"$target/venv/bin/pip" -q --disable-pip-version-check download --no-deps --only-binary :all: -d "$target/wheel" "$wheel" || give_up "pip says why above"
python3 - "$target" "$inside" <<'PYTHON' || give_up "the wheel does not hold them"
import glob, sys, zipfile

target, inside = sys.argv[1:]
wheel = zipfile.ZipFile(glob.glob(f"{target}/wheel/*.whl")[0])
tabulator = f"{inside}/datatabulator/tabulator-tables@6.4.0/dist"
for name in (f"{inside}/echarts/echarts@6.0.0/dist/echarts.min.js", f"{tabulator}/js/tabulator.min.js", f"{tabulator}/css/tabulator.min.css"):
    with open(f"{target}/{name.rsplit('/', 1)[1]}", "wb") as file:
        file.write(wheel.read(name))
PYTHON
(cd "$target" && sha256sum --quiet -c) <"$sums" || give_up "they are not the files that were tried"
rm -rf "$target/wheel" "$target/venv"
touch "$target/complete"
