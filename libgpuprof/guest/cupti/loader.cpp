// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/loader.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <new>
#include <sys/stat.h>

namespace gpuprof::guest {
namespace {

std::string folder_of(std::string const& path) {
  return path.substr(0, path.find_last_of('/') + 1);
}

bool exists(std::string const& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

bool is_folder(std::string const& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::vector<std::string> mapped_libraries() {
  std::vector<std::string> paths;
  auto const ran_out = dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        try {
          if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
            static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
          return 0;
        } catch (...) {  // must not pass through the loader, which holds its lock
          return 1;
        }
      },
      &paths);
  if (ran_out != 0) throw std::bad_alloc();
  return paths;
}

/// A library newer than the driver may not work with it, so matching major versions come first.
std::vector<std::string> sonames(unsigned driver_major) {
  std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12"};
  if (driver_major != 0 && driver_major < 13) std::swap(names[0], names[1]);
  return names;
}

/// pip installs libcupti beside other CUDA libraries: nvidia/cu13/lib, or nvidia/cuda_cupti/lib
/// next to nvidia/cuda_runtime/lib.
std::vector<std::string> wheel_folders(std::vector<std::string> const& mapped) {
  std::vector<std::string> folders;
  for (auto const& path : mapped) {
    if (path.find("/nvidia/") == std::string::npos) continue;
    folders.push_back(folder_of(path));
    folders.push_back(folder_of(path) + "../../cuda_cupti/lib/");
  }
  return folders;
}

/// Where pip puts nvidia-cuda-cupti, in a folder of Python packages.
void add_package_folders(std::vector<std::string>& folders, std::string const& packages) {
  folders.push_back(packages + "nvidia/cu13/lib/");
  folders.push_back(packages + "nvidia/cuda_cupti/lib/");
}

/// Returns the folders of the Python that runs here, if it has loaded a module of a package, and of
/// the Python that holds this library or command: libgpuprof/lib or libgpuprof/bin.
std::vector<std::string> python_folders(std::vector<std::string> const& mapped) {
  std::vector<std::string> folders;
  std::string last;
  for (auto const& path : mapped)
    for (std::string_view const name : {"/site-packages/", "/dist-packages/"}) {
      auto const at = path.find(name);
      if (at == path.npos || path.substr(0, at + name.size()) == last) continue;
      last = path.substr(0, at + name.size());
      add_package_folders(folders, last);
    }
  auto const own = folder_of(path_of_object_holding(reinterpret_cast<void const*>(&exists)));
  if (!own.empty()) add_package_folders(folders, own + "../../");
  return folders;
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (auto const& root :
       {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    folders.push_back(root + "/extras/CUPTI/lib64/");
    folders.push_back(root + "/lib64/");
  }
  return folders;
}

bool is_libcupti(std::string const& path) {
  auto const name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with("libcupti.so") || name.starts_with("libcupti-");
}

bool driver_is_there() {
  constexpr char const* driver = "libcuda.so.1";
  return dlopen(driver, RTLD_LAZY | RTLD_NOLOAD) != nullptr ||
         dlopen(driver, RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

/// CUPTI 13.2 and newer need the driver in every call: without it 13.2 recurses until the stack
/// overflows, and 13.3 to 13.5 return only 999. The function tested here is new in 13.2.
bool needs_the_driver(void* library) {
  return dlsym(library, "cuptiActivityGetStructSize") != nullptr;
}

struct attempt {
  bool opened = false;
  loaded_cupti cupti;
  std::string why_not;
};

attempt try_open(std::string const& candidate) {
  attempt a;
  a.cupti.was_mapped = dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr;
  void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    char const* const reason = dlerror();
    a.why_not = reason != nullptr ? reason : candidate + " could not be opened";
    return a;
  }
  a.cupti.library = library;
  a.cupti.api = resolve_cupti(library);
  a.cupti.path = path_of_object_holding(reinterpret_cast<void const*>(a.cupti.api.cuptiGetVersion));
  if (auto const* const missing = a.cupti.api.first_missing_for_tracing()) {
    a.why_not = candidate + " has no " + missing;
    return a;
  }
  if (needs_the_driver(library) && !driver_is_there()) {
    a.why_not =
        candidate +
        " is CUPTI 13.2 or newer, which answers nothing without a CUDA driver; 13.1 and older do";
    return a;
  }
  std::uint32_t version = 0;
  if (auto const code = a.cupti.api.cuptiGetVersion(&version); code != CUPTI_SUCCESS) {
    a.why_not = candidate + " does not say its version (error " + std::to_string(code) + ")";
    return a;
  }
  a.cupti.version = version;
  if (version < cupti_version::oldest_supported) {
    a.why_not = candidate + " is CUPTI " + cupti_version_text(version) +
                ", too old: CUDA 12.0 or later is needed";
    return a;
  }
  a.opened = true;
  return a;
}

}  // namespace

std::vector<std::string> cupti_candidates(unsigned driver_major) {
  auto const mapped = mapped_libraries();
  std::vector<std::string> candidates;
  std::copy_if(mapped.begin(), mapped.end(), std::back_inserter(candidates), is_libcupti);
  if (!candidates.empty()) return candidates;  // never load a second one

  if (auto const wanted = environment("GPUPROF_CUPTI_PATH"); !wanted.empty()) {
    if (!is_folder(wanted)) {
      candidates.push_back(wanted);
    } else {
      for (auto const& name : sonames(driver_major)) candidates.push_back(wanted + "/" + name);
    }
  }
  for (auto const& name : sonames(driver_major)) candidates.push_back(name);
  auto folders = wheel_folders(mapped);
  for (auto& folder : toolkit_folders()) folders.push_back(std::move(folder));
  for (auto& folder : python_folders(mapped)) folders.push_back(std::move(folder));
  for (auto const& folder : folders) {
    for (auto const& name : sonames(driver_major)) {
      if (exists(folder + name)) candidates.push_back(folder + name);
    }
  }
  return candidates;
}

result<loaded_cupti> load_cupti(unsigned driver_major) {
  std::string reasons;
  for (auto const& candidate : cupti_candidates(driver_major)) {
    auto a = try_open(candidate);
    if (a.opened) return std::move(a.cupti);
    if (reasons.find(a.why_not) == std::string::npos)
      reasons += (reasons.empty() ? "" : "; ") + a.why_not;
  }
  return error{"no usable libcupti was found (" + reasons +
               "). Set GPUPROF_CUPTI_PATH to the folder that holds libcupti.so.13 or .12"};
}

void open_nvperf_host(loaded_cupti const& cupti) {
  std::error_code ignored;
  auto const file = std::filesystem::canonical(cupti.path, ignored).string();  // without links
  for (auto const& path : {cupti.path, file}) {
    auto const beside = folder_of(path) + "libnvperf_host.so";
    if (dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  }
}

}  // namespace gpuprof::guest
