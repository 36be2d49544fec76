// SPDX-License-Identifier: Apache-2.0
// The opaque handles that NVTX gets from us: the kind in the upper half, a name_id in the lower
// half.
//
// They are not addresses on purpose. A comparison detects a null, stale or foreign handle, so a
// wrong handle cannot make us read invalid memory. Two libraries that create a domain of the same
// name share it, as their users expect.
#pragma once

#include "model/ids.hpp"

#include <cstdint>
#include <optional>

namespace gpuprof::guest {

enum class handle_kind : std::uint32_t {  // above the address space, so never a real pointer
  domain = 0x47505244,
  text = 0x47505254,
  resource = 0x47505252,
};

template <class Handle>
Handle make_handle(handle_kind kind, std::uint32_t number) noexcept {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(kind) << 32 | number);
}

template <class Handle>
std::optional<name_id> name_of_handle(handle_kind kind, Handle handle) noexcept {
  auto const bits = reinterpret_cast<std::uintptr_t>(handle);
  if (bits >> 32 != static_cast<std::uintptr_t>(kind)) return std::nullopt;
  return static_cast<name_id>(bits & 0xffffffffu);
}

/// A null or foreign domain handle means the default domain.
template <class Handle>
name_id domain_of_handle(Handle handle) noexcept {
  return name_of_handle(handle_kind::domain, handle).value_or(name_id{});
}

}  // namespace gpuprof::guest
