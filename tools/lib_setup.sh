# SPDX-License-Identifier: Apache-2.0
# Shared by quickstart.sh and test.sh: packages, the CUDA toolkit, quiet build stages. Sourced by bash.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
logs="$root/build/logs"

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# log_of NAME: the file with the output of a stage.
log_of() { printf '%s/%s.log' "$logs" "$(printf '%s' "$1" | tr -c 'a-zA-Z0-9' '_')"; }

# stage NAME COMMAND...: one line when it starts and when it ends; its output only when it fails.
stage() {
  local name="$1" log begin
  shift
  mkdir -p "$logs"
  log="$(log_of "$name")"
  begin=$SECONDS
  printf '%s ... ' "$name"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf 'ok (%d s)\n' $((SECONDS - begin))
    return 0
  fi
  printf 'FAILED (%d s)\n' $((SECONDS - begin))
  tail -n 60 "$log" >&2
  printf 'The whole output is in %s\n' "$log" >&2
  return 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "root is needed to install packages and there is no sudo. As root run: apt-get install ${missing[*]}"
    return 1
  fi
}

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y "$@"
}

# install_packages PACKAGE...: does nothing when all are there.
install_packages() {
  local package
  missing=()
  command -v dpkg-query >/dev/null ||
    fail "this is not Debian or Ubuntu. Install these yourself, then build with cmake --preset release: $*"
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return 0
  stage "Installing ${missing[*]}" apt_install "${missing[@]}" ||
    fail "the packages could not be installed; see above"
}

build_packages=(cmake ninja-build g++ ccache libspdlog-dev libeigen3-dev catch2 libcli11-dev libzstd-dev llvm-14-dev
  libdeflate-dev libprotozero-dev libsqlite3-dev zlib1g-dev
  nlohmann-json3-dev libbenchmark-dev python3 python3-venv)
test_packages=(fish zsh)  # shells whose completions are tried
client_packages=(chromium-headless-shell firefox-esr openjdk-17-jre-headless python3-pip)  # what programs that read exports run in

# Sets cuda_root to a toolkit with a compiler, or to nothing: what needs one is then left out. The headers are cmake's business.
find_cuda() {
  local candidate nvcc
  nvcc="$(command -v nvcc || true)"
  cuda_root=
  for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda \
    /usr/local/cuda-13* /usr/local/cuda-12*; do
    if [ -n "$candidate" ] && [ -x "$candidate/bin/nvcc" ]; then
      cuda_root="$candidate"
      export_nvcc
      return 0
    fi
  done
}

# CMake looks for nvcc in PATH only.
export_nvcc() {
  if [ -z "${CUDACXX:-}" ] && [ -x "$cuda_root/bin/nvcc" ]; then export CUDACXX="$cuda_root/bin/nvcc"; fi
}

# The test that reads the GPU code needs nvdisasm and cuobjdump, which not every toolkit brings along.
disassembler_from_pypi() {
  local target="$1" program
  rm -rf "$target/venv" "$target/bin"
  mkdir -p "$target/bin"
  python3 -m venv "$target/venv" &&
    "$target/venv/bin/pip" -q install --no-deps 'nvidia-cuda-nvdisasm>=13.2,<14' \
      'nvidia-cuda-cuobjdump>=13.2,<14' || return 1
  for program in nvdisasm cuobjdump; do
    ln -s "$(echo "$target"/venv/lib/python3*/site-packages/nvidia/cu13/bin/$program)" "$target/bin/" &&
      "$target/bin/$program" --version || return 1
  done
}

# Without them that test is skipped, and says so.
find_disassembler() {
  local tools="$root/build/tools"
  [ -n "$cuda_root" ] || return 0
  (
    PATH="$cuda_root/bin:$PATH:$tools/bin"
    command -v nvdisasm && command -v cuobjdump
  ) >/dev/null && return 0
  stage "No nvdisasm here: fetching it from PyPI" disassembler_from_pypi "$tools" ||
    say "The machine code of the peak kernels will not be checked."
}

clang_tidy_from_pypi() {
  local target="$1"
  rm -rf "$target"
  python3 -m venv "$target" &&
    "$target/bin/pip" -q install --require-hashes --only-binary :all: -r "$root/tools/clang_tidy.txt" &&
    "$target/bin/clang-tidy" --version &&
    cp "$root/tools/clang_tidy.txt" "$target/"  # last: now it is whole
}

# Sets clang_tidy to the folder with clang-tidy and run-clang-tidy.py. Debian 12's release 14 takes five times as long.
find_clang_tidy() {
  local target="$root/build/tools/clang-tidy"
  if ! cmp -s "$root/tools/clang_tidy.txt" "$target/clang_tidy.txt"; then
    stage "Fetching clang-tidy from PyPI" clang_tidy_from_pypi "$target" || {
      say "error: there is no clang-tidy, so nothing was checked. Give pip a way to PyPI (PIP_INDEX_URL, HTTPS_PROXY), then run this again." >&2
      return 1
    }
  fi
  clang_tidy="$(echo "$target"/lib/python3*/site-packages/clang_tidy/data/bin)"
}

has_cuda_headers() { grep -qsE '#define CUPTI_API_VERSION +1300[0-9][0-9]' "$cuda_root"/{include,extras/CUPTI/include}/cupti_version.h; }

# Configuring asks no network: this fetches what the machine lacks, once. Without ECharts and Tabulator `gpuprof report` is left out.
fetch_missing() {
  "$root/tools/fetch_report_js.sh" || true
  has_cuda_headers || "$root/tools/fetch_cuda_headers.sh"
}

# A build folder keeps the CUDA toolkit it was configured with.
configure_preset() {
  fetch_missing && (cd "$root" && cmake --preset "$1" ${cuda_root:+"-DCUDAToolkit_ROOT=$cuda_root"} "${@:2}")
}

build_preset() {
  local preset="$1"
  shift
  stage "Configuring ($preset)" configure_preset "$preset" "$@" &&
    stage "Building ($preset)" cmake --build "$root/build/$preset"
}

# build_target PRESET TARGET [OPTION...]
build_target() {
  stage "Configuring ($1)" configure_preset "$1" "${@:3}" &&
    stage "Building $2 ($1)" cmake --build "$root/build/$1" --target "$2"
}

# nsys and the browsers come from Debian's archive.
has_clients() { grep -q '^ID=debian' /etc/os-release || { say "SKIPPED, clients: this is not Debian"; return 1; }; }

fetch_clients() {
  local client
  install_packages "${client_packages[@]}"
  export GPUPROF_FETCH_CLIENTS=yes
  for client in jsonschema parquet perfetto perfetto_ui firefox hta nsys nsys_recipes spark; do
    stage "Fetching $client" "$root/tests/process/export/clients.sh" "$client" || return 1
  done
}

has_gpu() {
  local gpus=(/proc/driver/nvidia/gpus/*)
  [ -e "${gpus[0]}" ] && [ -e /dev/nvidiactl ]
}
