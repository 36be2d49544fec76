// SPDX-License-Identifier: Apache-2.0
#include "guest/operators/torch_operators.hpp"

#include "base/fork_guard.hpp"
#include "base/process.hpp"
#include "base/real_dlsym.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/nvtx/text.hpp"
#include "guest/operators/sequence_place.hpp"
#include "model/torch_ranges.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <exception>
#include <link.h>
#include <mutex>
#include <string_view>

namespace gpuprof::guest {
namespace {

/// Where the return value of a start callback goes: std::unique_ptr<at::ObserverContext>, which is
/// returned through memory because it has a destructor.
struct no_context {
  void* observer = nullptr;
  no_context() = default;
  no_context(no_context const&) = delete;
  // A trivial one would change how it is returned.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  ~no_context() {}
};

/// at::RecordFunctionCallback, from ATen/record_function.h of PyTorch 1.13 to 2.x.
struct record_callback {
  no_context (*start)(std::byte const* function);
  void (*end)(std::byte const* function, void* observer);
  double probability = 1;
  std::array<bool, 10> scopes{};  // by at::RecordScope
  bool needs_inputs = false, needs_outputs = false, needs_ids = false;
};
static_assert(sizeof(record_callback) == 40);
enum record_scope : std::size_t { scope_operator = 0, scope_node = 1, scope_user = 7 };

struct torch_functions {
  std::uint64_t (*add)(record_callback) = nullptr;  // returns a handle
  void (*remove)(std::uint64_t handle) = nullptr;
  char const* (*name)(std::byte const* function) = nullptr;
  std::uint64_t (*next_number)() = nullptr;  // of the autograd nodes of the calling thread
};

// Set before the first callback, and constant afterwards.
constinit torch_functions torch;
constinit name_id operator_names{}, user_names{};

constinit std::mutex mutex;  // protects what follows; a child made by fork() does not get here
constinit std::array<std::uint64_t, 3> handles{};
constinit bool is_begun = false, is_found = false;

constinit sequence_place numbers;

void push(std::byte const* function, name_id domain) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return;
  push_range(*log, {.name = intern_text(log->names, torch.name(function)), .domain = domain});
}

void push_numbered(std::byte const* function, torch_category category) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return;
  auto const number = numbers.number_of(function);
  push_range(*log, {.name = intern_text(log->names, torch.name(function)),
                    .domain = operator_names,
                    .category = static_cast<std::uint32_t>(category),
                    .payload = number ? payload_kind::unsigned64 : payload_kind::none,
                    .payload_bits = number.value_or(0)});
}

void pop(name_id domain) noexcept {
  // If there is nothing to pop, it has begun on another thread, or when there was no log.
  if (auto* const log = this_thread_log()) pop_range(*log, domain, false);
}

// The callbacks run on threads of the program, in a forked child too, where there is no log.

no_context operator_begins(std::byte const* function) {
  if (numbers.is_wanted() && torch.next_number != nullptr) [[unlikely]]
    numbers.compare(function, torch.next_number());
  push_numbered(function, torch_category::operation);
  return {};
}
no_context node_begins(std::byte const* function) {
  push_numbered(function, torch_category::node);
  return {};
}
no_context user_begins(std::byte const* function) {
  push(function, user_names);
  return {};
}
void operator_ends(std::byte const*, void*) {
  pop(operator_names);
}
void user_ends(std::byte const*, void*) {
  pop(user_names);
}

/// The library in which operators are, or null; a handle that is never closed.
void* find_library() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* into) {
        std::string_view const name = library->dlpi_name != nullptr ? library->dlpi_name : "";
        auto const file = name.substr(name.rfind('/') + 1);
        if (!file.starts_with("libtorch_cpu.so")) return 0;
        *static_cast<std::string*>(into) = name;
        return 1;
      },
      &path);
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

torch_outcome find_torch(std::string& reason) {
  if (is_found) return torch_outcome::begun;
  auto* const library = find_library();
  if (library == nullptr) return torch_outcome::not_loaded;
  auto const find = [&](auto& into, char const* name) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(real_dlsym()(library, name));
    if (into == nullptr) reason = std::string("this PyTorch has no function ") + name;
    return into != nullptr;
  };
  torch_functions found;
  if (!find(found.add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE") ||
      !find(found.remove, "_ZN2at14removeCallbackEm") ||
      !find(found.name, "_ZNK2at14RecordFunction4nameEv"))
    return torch_outcome::unusable;
  std::string no_numbers;  // then nodes have no forward line; all else is there
  std::swap(reason, no_numbers);
  find(found.next_number, "_ZN2at15sequence_number4peekEv");
  std::swap(reason, no_numbers);
  operator_names = names().intern(torch_domain);
  user_names = names().intern(torch_user_domain);
  torch = found;
  is_found = true;
  return torch_outcome::begun;
}

std::uint64_t add(no_context (*start)(std::byte const*), void (*end)(std::byte const*, void*),
                  record_scope scope) {
  record_callback callback{.start = start, .end = end};
  callback.scopes[scope] = true;
  return torch.add(callback);
}

}  // namespace

torch_outcome begin_torch_operators(std::string& reason) noexcept {
  fork_guard const no_fork;  // PyTorch takes a lock
  std::lock_guard const lock(mutex);
  if (is_begun) return torch_outcome::begun;
  try {
    if (auto const outcome = find_torch(reason); outcome != torch_outcome::begun) return outcome;
    handles = {add(operator_begins, operator_ends, scope_operator),
               add(node_begins, operator_ends, scope_node),
               add(user_begins, user_ends, scope_user)};
    is_begun = true;
    return torch_outcome::begun;
  } catch (std::exception const& e) {
    reason = std::string("PyTorch said: ") + e.what();
    return torch_outcome::unusable;
  }
}

void end_torch_operators() noexcept {
  if (process_is_exiting()) return;
  fork_guard const no_fork;
  std::lock_guard const lock(mutex);
  if (!is_begun) return;
  is_begun = false;
  try {
    for (auto const handle : handles) torch.remove(handle);
  } catch (std::exception const&) {
    // It stays, and costs what it cost before.
  }
}

}  // namespace gpuprof::guest
