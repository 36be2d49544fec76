// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"
#include "child_probe.hpp"
#include "guest/cupti/known_defects.hpp"
#include "guest/cupti/loader.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/driver/device_facts.hpp"
#include "library_file.hpp"
#include "status_checks.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace gpuprof::host::command {

using namespace guest;

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// If gpuprof were the injected tool, it would record the probe itself.
void leave_gpuprof_out() {
  for (char const* const variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    if (environment(variable).find("libgpuprof") != std::string::npos) unsetenv(variable);
  }
}

findings probe_driver() {
  leave_gpuprof_out();
  findings found;
  auto const driver = load_cuda_driver();
  if (!driver) {
    found["missing"] = driver.message();
    return found;
  }
  int version = 0;
  if (driver->cuDriverGetVersion != nullptr) driver->cuDriverGetVersion(&version);
  found["cuda"] = std::to_string(version);
  if (driver->cuInit == nullptr) return found;
  int const initialized = driver->cuInit(0);
  if (initialized != CUDA_SUCCESS) {
    found["init"] = std::to_string(initialized);
    return found;
  }
  auto const facts = read_driver_facts(*driver);
  found["version"] = facts.version;
  found["gpus"] = std::to_string(facts.devices.size());
  for (auto const& device : facts.devices) {
    auto& names = found["names"];
    names += (names.empty() ? "" : ", ") + device.name;
    if (device.mig || device.uuid.starts_with("MIG-") ||
        device.name.find(" MIG ") != std::string::npos) {
      found["mig"] = "yes";
    }
  }
  return found;
}

findings probe_cupti(unsigned driver_major) {
  findings found;
  auto const cupti = load_cupti(driver_major);
  if (!cupti) {
    found["missing"] = cupti.message();
    return found;
  }
  found["path"] = cupti->path;
  found["version"] = cupti_version_text(cupti->version);
  if (auto const text = describe(known_defects_of(cupti->version)); !text.empty())
    found["defects"] = text;
#define GPUPROF_NOTE(name)        \
  if (cupti->api.name == nullptr) \
    found["lacks"] += (found["lacks"].empty() ? "" : ", ") + std::string(#name);
  GPUPROF_CUPTI_OPTIONAL(GPUPROF_NOTE)
#undef GPUPROF_NOTE
  return found;
}

/// Probes in a process of its own after cuInit, as in a profiled program, so that an injected tool
/// is present, too.
findings probe_subscriber(unsigned driver_major) {
  leave_gpuprof_out();
  findings found;
  auto const driver = load_cuda_driver();
  auto const cupti = load_cupti(driver_major);
  if (!driver || !cupti || driver->cuInit(0) != CUDA_SUCCESS) return found;
  CUpti_SubscriberHandle subscriber{};
  auto const callback = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, void const*) {};
  auto const answer = cupti->api.cuptiSubscribe(&subscriber, callback, nullptr);
  char const* text = nullptr;
  cupti->api.cuptiGetResultString(answer, &text);
  found["answer"] = std::to_string(answer);
  found["text"] = text != nullptr ? text : "";
  return found;
}

check crashed(std::string name, std::string const& failure) {
  return {std::move(name), check_state::missing, "the probe " + failure,
          "Reinstall it, or run the same under a debugger to see why"};
}

bool is_in_container() {
  return std::filesystem::exists("/.dockerenv") || std::filesystem::exists("/run/.containerenv");
}

check driver_check(findings const& found) {
  if (found.count("missing") != 0) {
    bool const kernel_module = std::filesystem::exists("/proc/driver/nvidia/version");
    return {"driver", check_state::missing, found.at("missing"),
            is_in_container() || kernel_module
                ? "Start the container with --gpus all (NVIDIA Container Toolkit)"
                : "Install the NVIDIA driver; NVTX ranges are recorded without it"};
  }
  int const cuda = std::atoi(found.at("cuda").c_str());
  auto text = cuda == 0 ? "its version is not known" : "supports CUDA " + version_text(cuda);
  if (found.count("version") != 0 && !found.at("version").empty()) {
    text = found.at("version") + ", " + text;
  }
  return {"driver", check_state::ok, text, ""};
}

check devices_check(findings const& found) {
  if (found.count("init") != 0) {
    return {"gpus", check_state::missing, "cuInit returned " + found.at("init"),
            "nvidia-smi says more; in a container start it with --gpus all"};
  }
  if (found.count("gpus") == 0 || found.at("gpus") == "0") {
    return {"gpus", check_state::missing, "none is visible",
            "Check CUDA_VISIBLE_DEVICES and nvidia-smi"};
  }
  return {"gpus", check_state::ok, found.at("gpus") + ": " + found.at("names"), ""};
}

check mig_check(findings const& found) {
  if (found.count("mig") == 0) return {"mig", check_state::ok, "off", ""};
  return {"mig", check_state::limited,
          "on: tracing works, counters of units shared between instances do not", ""};
}

check cupti_check(probe_outcome const& outcome) {
  if (!outcome.failure.empty()) return crashed("cupti", outcome.failure);
  auto const& found = outcome.found;
  if (found.count("missing") != 0) {
    return {"cupti", check_state::missing, found.at("missing"), ""};  // the text says what to do
  }
  auto const text = found.at("version") + " at " + found.at("path") + ", tracing: all functions";
  if (found.count("defects") != 0) {
    return {"cupti", check_state::limited, text + "; " + found.at("defects"),
            "CUPTI of CUDA 13.0 Update 1 or later, or of 12.6 to 12.9, has this fixed"};
  }
  if (found.count("lacks") == 0) return {"cupti", check_state::ok, text, ""};
  return {"cupti", check_state::limited, text + ", without " + found.at("lacks"),
          "A newer CUDA toolkit has them; tracing does without"};
}

check subscriber_check(probe_outcome const& outcome) {
  if (!outcome.failure.empty()) return crashed("subscriber", outcome.failure);
  auto const& found = outcome.found;
  if (found.count("answer") == 0) {
    return {"subscriber", check_state::unknown, "not tried: it takes a GPU and libcupti", ""};
  }
  if (found.at("answer") == "0") {
    return {"subscriber", check_state::ok, "CUPTI is free for gpuprof", ""};
  }
  return {"subscriber", check_state::missing,
          "cuptiSubscribe returned " + found.at("answer") + " (" + found.at("text") + ")",
          "Another tool holds CUPTI in every process; unset CUDA_INJECTION64_PATH"};
}

/// Reports the loader's reason why a library could not be opened, with the consequences.
check library_not_opened(std::string const& why) {
  // Memory for thread-local variables is scarce in a running process, but not at its start.
  if (why.find("static TLS") != std::string::npos) {
    return {"libgpuprof", check_state::limited,
            "gpuprof profile and LD_PRELOAD can load it; a process that runs cannot: " + why,
            "To open it late set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384"};
  }
  return {"libgpuprof", check_state::missing, why,
          "Install gpuprof again, or set GPUPROF_LIBRARY to a libgpuprof.so that can be loaded"};
}

check library_check() {
  auto const library = find_library_file();
  if (!library) return {"libgpuprof", check_state::missing, library.message(), ""};
  auto const outcome = probe_in_child([&] {
    findings found;
    // Opening it is harmless here: nothing is recorded before cuInit or the first NVTX range.
    if (dlopen(library->c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) found["missing"] = dlerror();
    return found;
  });
  if (!outcome.failure.empty()) return crashed("libgpuprof", outcome.failure);
  if (outcome.found.count("missing") != 0) {
    return library_not_opened(outcome.found.at("missing"));
  }
  return {"libgpuprof", check_state::ok,
          preload_file(*library) + ", for LD_PRELOAD=$(gpuprof --library)", ""};
}

}  // namespace

std::vector<check> gpu_checks() {
  std::vector<check> checks{library_check()};
  auto const driver = probe_in_child(probe_driver);
  unsigned major = 0;
  if (!driver.failure.empty()) {
    checks.push_back(crashed("driver", driver.failure));
  } else {
    checks.push_back(driver_check(driver.found));
    if (driver.found.count("missing") == 0) {
      major = static_cast<unsigned>(std::atoi(driver.found.at("cuda").c_str())) / 1000;
      checks.push_back(devices_check(driver.found));
      checks.push_back(mig_check(driver.found));
    }
  }
  checks.push_back(cupti_check(probe_in_child([=] { return probe_cupti(major); })));
  checks.push_back(subscriber_check(probe_in_child([=] { return probe_subscriber(major); })));
  return checks;
}

std::string cupti_here() {
  auto const outcome = probe_in_child([] { return probe_cupti(0); });
  if (!outcome.failure.empty()) return "not known, opening it " + outcome.failure;
  auto const& found = outcome.found;
  if (found.count("missing") != 0) return "none, " + found.at("missing");
  return found.at("version") + " at " + found.at("path");
}

}  // namespace gpuprof::host::command
