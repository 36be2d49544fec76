// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/blocking_calls.hpp"

#include "base/own_calls.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/ticks.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

/// Names without the prefix "cu" or "cuda" and without the version suffix.
constexpr std::array<std::string_view, 45> blocking{
    "CtxSynchronize", "ThreadSynchronize", "DeviceSynchronize", "StreamSynchronize",
    "EventSynchronize",
    // memory
    "MemAlloc", "MemAllocPitch", "MemAllocHost", "MemAllocManaged", "MemFree", "MemFreeHost",
    "MemHostAlloc", "MemHostRegister", "MemHostUnregister", "MemCreate", "MemRelease", "MemMap",
    "MemUnmap", "MemSetAccess", "MemPoolTrimTo", "MemPoolDestroy", "Malloc", "MallocPitch",
    "MallocArray", "MallocHost", "MallocManaged", "Malloc3D", "Malloc3DArray",
    "MallocMipmappedArray", "Free", "FreeHost", "FreeArray", "FreeMipmappedArray", "HostAlloc",
    "HostRegister", "HostUnregister",
    // code
    "ModuleLoad", "ModuleLoadData", "ModuleLoadDataEx", "ModuleLoadFatBinary", "ModuleUnload",
    "LibraryLoadData", "LibraryLoadFromFile", "LibraryUnload", "LinkComplete"};

bool remove_suffix(std::string_view& name, std::string_view suffix) noexcept {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

bool remove_version(std::string_view& name) noexcept {
  auto const mark = name.rfind("_v");
  if (mark == name.npos || mark + 2 == name.size()) return false;
  auto const digits = name.substr(mark + 2);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  name = name.substr(0, mark);
  return true;
}

}  // namespace

call_kind kind_of_blocking_call(std::string_view name) noexcept {
  while (remove_version(name) || remove_suffix(name, "_ptds") || remove_suffix(name, "_ptsz")) {
  }
  if (!name.starts_with("cu")) return call_kind::none;
  name.remove_prefix(name.starts_with("cuda") ? 4 : 2);
  if (name.starts_with("GraphInstantiate")) return call_kind::other;
  if (name.starts_with("Memcpy") || name.starts_with("Memset"))
    return name.find("Async") == name.npos ? call_kind::copy : call_kind::none;
  if (std::find(blocking.begin(), blocking.end(), name) == blocking.end()) return call_kind::none;
  if (name.ends_with("Synchronize")) return call_kind::wait;
  for (auto const* const code : {"Module", "Library", "Link"})
    if (name.starts_with(code)) return call_kind::other;
  return call_kind::allocation;
}

bool is_blocking_call(std::string_view name) noexcept {
  return kind_of_blocking_call(name) != call_kind::none;
}

void blocking_calls::entered(CUpti_CallbackData const& call) noexcept {
  *call.correlationData = read_ticks();
}

void blocking_calls::left(CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept {
  if (!are_recorded_.load(std::memory_order_relaxed)) return;
  auto const entered = *call.correlationData;
  if (entered == 0 || !log_is_recording.load(std::memory_order_relaxed) || makes_own_calls())
    return;
  finished_call done{.entered = entered, .ended = read_ticks()};
  auto* const log = this_thread_log();
  if (log == nullptr) return;
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  done.correlation = static_cast<correlation_id>(call.correlationId);
  done.id = id;
  done.result = status != nullptr ? *status : 0;
  done.stack = stack_number(*log, kinds_[id], done.correlation, done.ended - done.entered);
  write_driver_call(*log, done);
}

}  // namespace gpuprof::guest
