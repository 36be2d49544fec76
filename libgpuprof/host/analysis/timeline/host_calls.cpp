// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/host_calls.hpp"

namespace gpuprof::host {
namespace {

/// Removes words that CUDA's names do not have: "ModuleLaunchKernel", "ExtLaunchKernel",
/// "HostMalloc".
std::string_view without_words_of_hip(std::string_view name) noexcept {
  for (std::string_view const word : {"Ext", "Hcc", "Module"})
    if (name.starts_with(word) && name.find("Launch") != std::string_view::npos)
      name.remove_prefix(word.size());
  if (name.starts_with("HostMalloc") || name.starts_with("HostFree")) name.remove_prefix(4);
  return name;
}

/// Removes the prefix, because names of the runtime, the driver and HIP share their verbs:
/// "cudaMemcpyAsync", "cuMemcpyHtoDAsync", "hipMemcpyAsync".
std::string_view without_prefix(std::string_view name) noexcept {
  if (name.starts_with("cuda")) return name.substr(4);
  if (name.starts_with("hip")) return without_words_of_hip(name.substr(3));
  return name.starts_with("cu") ? name.substr(2) : name;
}

bool has(std::string_view name, std::string_view part) noexcept {
  return name.find(part) != std::string_view::npos;
}

bool begins(std::string_view name, std::initializer_list<std::string_view> words) noexcept {
  for (auto const word : words)
    if (name.starts_with(word)) return true;
  return false;
}

}  // namespace

call_kind kind_of_call(std::string_view full_name) noexcept {
  auto const name = without_prefix(full_name);
  if (begins(name, {"Memcpy", "Memset"}))
    return has(name, "Async") || has(name, "Batch") ? call_kind::launch : call_kind::blocking_copy;
  if (begins(name, {"Launch", "GraphLaunch"}) && !has(name, "HostFunc")) return call_kind::launch;
  if (begins(name, {"DeviceSynchronize", "ThreadSynchronize", "StreamSynchronize",
                    "EventSynchronize", "CtxSynchronize"}))
    return call_kind::synchronize;
  if (begins(name, {"Malloc", "Free", "HostAlloc", "HostRegister", "HostUnregister", "MemAlloc",
                    "MemFree", "MemHostAlloc", "MemHostRegister", "MemHostUnregister", "MemCreate",
                    "MemMap", "MemUnmap", "MemRelease", "MemSetAccess", "MemAddressReserve",
                    "MemAddressFree", "MemPoolTrim"}))
    // asynchronous ones do not wait
    return has(name, "Async") ? call_kind::other : call_kind::allocate;
  if (begins(name, {"ModuleLoad", "LibraryLoad", "ModuleUnload", "LibraryUnload", "LinkAdd",
                    "LinkComplete"}))
    return call_kind::load_module;
  if (begins(name, {"GraphInstantiate", "GraphExecUpdate", "GraphUpload"}))
    return call_kind::build_graph;
  return call_kind::other;
}

bool copies_memory(std::string_view full_name) noexcept {
  return begins(without_prefix(full_name), {"Memcpy", "Memset"});
}

bool waits_for_whole_device(std::string_view full_name) noexcept {
  return begins(without_prefix(full_name),
                {"DeviceSynchronize", "ThreadSynchronize", "CtxSynchronize"});
}

}  // namespace gpuprof::host
