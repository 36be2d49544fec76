// SPDX-License-Identifier: Apache-2.0
#include "guest/options/settings.hpp"
#include "status_checks.hpp"

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gnu/libc-version.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace gpuprof::host::command {

using namespace guest;

namespace {

namespace fs = std::filesystem;

/// Returns what could be read. A process may end while its file in /proc is read; a stream then
/// only sets its state, but an iterator throws.
std::string read_file(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char piece[4096];
  while (file.read(piece, sizeof piece) || file.gcount() > 0)
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  return text;
}

bool exists(std::string const& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Returns the rest of the line that begins with `key`; empty if there is no such line.
std::string value_of(std::string const& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!std::string_view(line).starts_with(key)) continue;
    auto const begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? std::string{} : line.substr(begin);
  }
  return {};
}

/// Reads the rights of this process from the line "CapEff:" of /proc/self/status.
bool has_right_to_counters(std::string const& root) {
  auto const text = value_of(read_file(root + "/proc/self/status"), "CapEff:");
  if (text.empty()) return false;
  auto const rights = std::strtoull(text.c_str(), nullptr, 16);
  constexpr std::uint64_t sys_admin = 1ull << 21, perfmon = 1ull << 38;
  return (rights & (sys_admin | perfmon)) != 0;
}

check counter_rights(std::string const& root) {
  auto const value =
      value_of(read_file(root + "/proc/driver/nvidia/params"), "RmProfilingAdminOnly:");
  if (value.empty()) {
    return {"counters", check_state::unknown,
            "the driver does not say who may read hardware counters (tracing needs no such right)",
            ""};
  }
  if (value == "0") return {"counters", check_state::ok, "every user may read them", ""};
  if (has_right_to_counters(root)) {
    return {"counters", check_state::ok, "administrators may read them, and this process is one",
            ""};
  }
  return {"counters", check_state::limited,
          "only administrators may read hardware counters (RmProfilingAdminOnly: " + value +
              "); tracing works without",
          "Run with CAP_SYS_ADMIN (container: --cap-add SYS_ADMIN), or load the driver with "
          "NVreg_RestrictProfilingToAdminUsers=0"};
}

/// Returns the names of all processes from /proc/<pid>/comm, which are cut to 15 letters.
std::set<std::string> running_programs(std::string const& root) {
  std::set<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator i(root + "/proc", failed), end; !failed && i != end;
       i.increment(failed)) {
    if (std::isdigit(static_cast<unsigned char>(i->path().filename().string()[0])) == 0) continue;
    auto name = read_file(i->path().string() + "/comm");
    std::erase(name, '\n');
    names.insert(name);
  }
  return names;
}

check mps(std::set<std::string> const& programs,
          std::map<std::string, std::string> const& variables) {
  bool const runs =
      programs.count("nvidia-cuda-mps") != 0 || variables.count("CUDA_MPS_PIPE_DIRECTORY") != 0;
  if (!runs) return {"mps", check_state::ok, "off", ""};
  return {"mps", check_state::limited, "on: tracing works, hardware counters do not",
          "Stop it for counters: echo quit | nvidia-cuda-mps-control"};
}

check other_tools(std::set<std::string> const& programs) {
  // Keys are the first 15 letters of the program's name.
  static std::map<std::string, std::string> const known{{"nsys", "Nsight Systems"},
                                                        {"nsys-launcher", "Nsight Systems"},
                                                        {"ncu", "Nsight Compute"},
                                                        {"nv-hostengine", "DCGM"},
                                                        {"dcgm-exporter", "DCGM exporter"}};
  std::string running;
  for (auto const& [program, tool] : known) {
    if (programs.count(program) == 0) continue;
    running += (running.empty() ? "" : ", ") + tool + " (" + program + ")";
  }
  if (running.empty()) return {"other tools", check_state::ok, "none is running", ""};
  return {"other tools", check_state::limited, running + " is running",
          "It may hold CUPTI or the counters; stop it if gpuprof says so"};
}

check container(std::string const& root) {
  if (read_file(root + "/proc/version").find("icrosoft") != std::string::npos) {
    return {"container", check_state::limited, "Windows Subsystem for Linux",
            "Counters need driver 525 or newer and Windows 11"};
  }
  bool const inside = exists(root + "/.dockerenv") || exists(root + "/run/.containerenv");
  bool const devices = exists(root + "/dev/nvidiactl");
  if (!inside) return {"container", check_state::ok, "none", ""};
  if (devices) return {"container", check_state::ok, "inside one, GPU devices are visible", ""};
  return {"container", check_state::limited, "inside one, without GPU devices",
          "Start it with --gpus all (NVIDIA Container Toolkit)"};
}

check injections(std::map<std::string, std::string> const& variables) {
  std::string set;
  bool foreign = false;
  for (char const* const name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD",
                                 "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"}) {
    auto const found = variables.find(name);
    if (found == variables.end() || found->second.empty()) continue;
    set += (set.empty() ? "" : ", ") + found->first + "=" + found->second;
    foreign = foreign || (std::string_view(name).find("INJECTION") != std::string_view::npos &&
                          found->second.find("libgpuprof") == std::string::npos);
  }
  if (set.empty()) return {"environment", check_state::ok, "no variable interferes", ""};
  if (!foreign) return {"environment", check_state::ok, set, ""};
  return {"environment", check_state::limited, set,
          "Another tool is injected into every CUDA program; unset the variable for gpuprof"};
}

check own_variables(char const* const* environment) {
  std::string lines;
  for (auto const& line : read_settings(environment).warnings) {
    lines += (lines.empty() ? "" : "; ") + line;
  }
  if (lines.empty()) return {"settings", check_state::ok, "no GPUPROF_ variable is wrong", ""};
  return {"settings", check_state::limited, lines, "Correct or unset it"};
}

/// Returns the first file with this name in the folders of PATH; empty if there is none.
std::string first_on_path(std::string const& root, std::string const& path, char const* name) {
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto const file = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code ignored;
    if (fs::is_regular_file(root + file, ignored)) return file;
  }
  return {};
}

/// Scripts written by pip and uv begin with the interpreter and name their module.
bool is_script_of_module(std::string const& text, std::string_view module) {
  if (!text.starts_with("#!")) return false;
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < 20 && std::getline(lines, line); ++i) {
    std::istringstream words(line);
    std::string verb, name;
    words >> verb >> name;
    if ((verb == "from" || verb == "import") && name.substr(0, name.find('.')) == module)
      return true;
  }
  return false;
}

check command_on_path(std::string const& root,
                      std::map<std::string, std::string> const& variables) {
  auto const path = variables.find("PATH");
  auto const file =
      path == variables.end() ? std::string{} : first_on_path(root, path->second, "gpuprof");
  if (file.empty()) return {"command", check_state::ok, "PATH has no gpuprof", ""};
  if (!is_script_of_module(read_file(root + file), "gpuprof"))
    return {"command", check_state::ok, "the first gpuprof on PATH is " + file, ""};
  return {"command", check_state::limited,
          "the first gpuprof on PATH, " + file +
              ", is of the package gpuprof of PyPI, which is another project",
          "Use the command libgpuprof, or: pip uninstall gpuprof; pip install --force-reinstall "
          "libgpuprof"};
}

check system_versions(std::string const& root) {
  auto kernel = read_file(root + "/proc/sys/kernel/osrelease");
  std::erase(kernel, '\n');
  return {"system", check_state::ok,
          "Linux " + kernel + ", glibc " + gnu_get_libc_version() + ", gpuprof " + GPUPROF_VERSION,
          ""};
}

std::map<std::string, std::string> read_variables(char const* const* environment) {
  std::map<std::string, std::string> variables;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string const entry = *environment;
    auto const equals = entry.find('=');
    if (equals != std::string::npos) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return variables;
}

}  // namespace

std::vector<check> system_checks(std::string const& root, char const* const* environment) {
  auto const programs = running_programs(root);
  auto const variables = read_variables(environment);
  return {counter_rights(root),
          mps(programs, variables),
          other_tools(programs),
          container(root),
          injections(variables),
          own_variables(environment),
          command_on_path(root, variables),
          system_versions(root)};
}

}  // namespace gpuprof::host::command
