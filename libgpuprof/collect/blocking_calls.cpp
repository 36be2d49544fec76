// SPDX-License-Identifier: Apache-2.0
#include "collect/blocking_calls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gpuprof {
namespace {

constexpr CUpti_CallbackId callback_ids = 1024;  // more than any CUPTI has in a domain

/// What follows "cu" or "cuda", without versions.
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

bool is_blocking_call(std::string_view name) noexcept {
  while (remove_version(name) || remove_suffix(name, "_ptds") || remove_suffix(name, "_ptsz")) {
  }
  if (!name.starts_with("cu")) return false;
  name.remove_prefix(name.starts_with("cuda") ? 4 : 2);
  if (name.starts_with("GraphInstantiate")) return true;
  if (name.starts_with("Memcpy") || name.starts_with("Memset"))
    return name.find("Async") == name.npos;
  return std::find(blocking.begin(), blocking.end(), name) != blocking.end();
}

void blocking_calls::learn() {
  auto const add = [&](CUpti_CallbackDomain domain, CUpti_ActivityKind kind) {
    for (CUpti_CallbackId id = 1; id < callback_ids; ++id) {
      char const* name = nullptr;
      if (api_.cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name != nullptr &&
          is_blocking_call(name))
        calls_.push_back({kind, id});
    }
  };
  add(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_ACTIVITY_KIND_RUNTIME);
  add(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_ACTIVITY_KIND_DRIVER);
}

result<void> blocking_calls::switch_one(recorded_call const& call, bool on) const {
  std::uint8_t const flag = on ? 1 : 0;
  return call.kind == CUPTI_ACTIVITY_KIND_RUNTIME
             ? guard_.call<&cupti_api::cuptiActivityEnableRuntimeApi>(call.id, flag)
             : guard_.call<&cupti_api::cuptiActivityEnableDriverApi>(call.id, flag);
}

bool blocking_calls::are_possible() const noexcept {
  return api_.cuptiActivityEnableDriverApi != nullptr &&
         api_.cuptiActivityEnableRuntimeApi != nullptr;
}

result<bool> blocking_calls::switch_on() {
  if (!are_possible()) return false;
  if (calls_.empty()) learn();
  for (auto const& call : calls_) {
    auto const ok = switch_one(call, true);
    if (ok) continue;
    switch_off();
    return error{ok.message()};
  }
  return true;
}

void blocking_calls::switch_off() noexcept {
  for (auto const& call : calls_) {
    if (call.kind == CUPTI_ACTIVITY_KIND_RUNTIME)
      guard_.try_call<&cupti_api::cuptiActivityEnableRuntimeApi>(call.id, std::uint8_t{0});
    else
      guard_.try_call<&cupti_api::cuptiActivityEnableDriverApi>(call.id, std::uint8_t{0});
  }
}

}  // namespace gpuprof
