// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/native_stack.hpp"

#include "base/no_cancellation.hpp"
#include "base/real_dlsym.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/ticks.hpp"
#include "guest/stacks/known_stacks.hpp"
#include "guest/stacks/loaded_binaries.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <dlfcn.h>
#include <span>
#include <sys/auxv.h>
#include <unwind.h>

namespace gpuprof::guest {
namespace detail {

std::atomic<std::uint8_t> native_kinds{0};

}  // namespace detail

namespace {

using quick_walk = int (*)(void** into, int size);

// libunwind's unw_backtrace, once it is loaded. It keeps how to leave each function, for each
// thread, and is not told of libraries that go: so it is used until the first one does.
std::atomic<quick_walk> quick{nullptr};
std::atomic<unsigned long long> removed_before{0};
std::atomic<bool> unwinder_tried{false};

// Whole numbers, because the program may trap exceptions of floating point.
std::atomic<std::uint64_t> one_part_in{0};  // of a thread's time; 0: nothing
std::atomic<std::uint64_t> ticks_a_second{2'000'000'000};
std::atomic<std::uintptr_t> python_begin{0}, python_end{0};

// Stands for the callers of a stack that could not be read to its end.
constexpr std::uint64_t callers_not_known = ~std::uint64_t{0};

constexpr std::uint64_t quick_a_second = 1000, slow_a_second = 20;
// Can be used at once after a pause.
constexpr std::uint64_t quick_at_once = 200, slow_at_once = 20;
// Many stacks are new at the start of a program: 5 ms for nothing.
constexpr std::uint64_t free_part_of_second = 200;

/// Return addresses, the innermost first.
struct walked {
  std::array<std::uintptr_t, max_stack_frames> addresses;
  std::size_t size = 0;
  bool is_whole = false;  // it ends where the thread or the part in Python begins

  walked() noexcept {}  // leaves the addresses as they are
  std::span<std::uintptr_t const> all() const noexcept { return {addresses.data(), size}; }
};

bool is_of_python(std::uintptr_t address) noexcept {
  return address >= python_begin.load(std::memory_order_relaxed) &&
         address < python_end.load(std::memory_order_relaxed);
}

/// Null if a library has gone.
quick_walk quick_one(library_counts const& libraries) noexcept {
  if (libraries.removed != removed_before.load(std::memory_order_relaxed))
    quick.store(nullptr, std::memory_order_relaxed);
  return quick.load(std::memory_order_acquire);
}

_Unwind_Reason_Code take_frame(_Unwind_Context* frame, void* into) noexcept {
  auto& stack = *static_cast<walked*>(into);
  auto const address = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
  if (address == 0 || stack.size == stack.addresses.size()) return _URC_NORMAL_STOP;
  stack.addresses[stack.size++] = address;
  return _URC_NO_REASON;
}

__attribute__((noinline)) void walk_stack(walked& stack, quick_walk with) noexcept {
  if (with == nullptr) {
    _Unwind_Backtrace(take_frame, &stack);
    return;
  }
  auto const size = with(reinterpret_cast<void**>(stack.addresses.data()),
                         static_cast<int>(stack.addresses.size()));
  stack.size =
      size > 0 ? std::min<std::size_t>(static_cast<std::size_t>(size), max_stack_frames) : 0;
  while (stack.size > 0 && stack.addresses[stack.size - 1] == 0) --stack.size;
}

/// Leaves out what calls Python, for these frames are known as those of Python.
void cut_at_python(walked& stack) noexcept {
  auto* const end = stack.addresses.data() + stack.size;
  auto* const python = std::find_if(stack.addresses.data(), end, is_of_python);
  if (python == end) return;
  stack.size = static_cast<std::size_t>(python - stack.addresses.data());
  stack.is_whole = true;
}

bool is_start_of_program(std::uintptr_t address) noexcept {
  constexpr std::uintptr_t size_of_start = 64;  // of _start, which never returns
  return address - getauxval(AT_ENTRY) < size_of_start;
}

/// Describes the stack in the ring, without the frames of the driver and the profiler on top.
/// Returns the number of the caller if nothing is left of it.
__attribute__((noinline)) std::uint16_t describe_native(thread_log& log, walked const& stack,
                                                        library_counts const& libraries,
                                                        std::uint64_t hash,
                                                        std::uint16_t caller) noexcept {
  std::array<std::uint32_t, max_stack_frames> of;
  if (!binaries().find(stack.all(), of, libraries)) return caller;
  std::size_t first = 0;
  while (first < stack.size && of[first] != 0 && binaries().at(of[first]).is_left_out) ++first;
  if (first == stack.size) return caller;
  std::array<log_frame, max_stack_frames> frames;
  std::size_t size = 0;
  for (auto i = first; i < stack.size; ++i) {
    auto const address = stack.addresses[i];
    auto const load_address = of[i] != 0 ? binaries().at(of[i]).load_address : 0;
    frames[size++] = {.binary = of[i], .address = address - load_address};
  }
  auto const last = stack.size - 1;
  auto const is_whole = stack.is_whole || is_start_of_program(stack.addresses[last]) ||
                        (of[last] != 0 && binaries().at(of[last]).begins_threads);
  if (!is_whole) {
    if (size == frames.size()) --size;
    frames[size++] = {.address = callers_not_known};
  }
  return give_number(log, hash, {frames.data(), size}, caller);
}

__attribute__((noinline)) std::uint16_t number_native(thread_log& log,
                                                      library_counts const& libraries,
                                                      quick_walk with,
                                                      std::uint16_t python) noexcept {
  walked stack;
  walk_stack(stack, with);
  if (python != 0) cut_at_python(stack);
  if (stack.size == 0) return python;
  auto hash = mixed_hash(python, libraries.removed);
  for (auto const address : stack.all()) hash = mixed_hash(hash, address);
  hash = mixed_hash(hash, stack.size) | 1;
  auto const& known = stacks_of(log)->place_of(hash);
  return known.hash != 0 ? static_cast<std::uint16_t>(known.number)
                         : describe_native(log, stack, libraries, hash, python);
}

/// Returns false if the thread has had as many walks as it may have.
bool may_walk(known_stacks& stacks, std::uint64_t now, bool is_quick) noexcept {
  auto& own = stacks.native;
  auto const second = ticks_a_second.load(std::memory_order_relaxed);
  if (own.first_at == 0) {
    own.first_at = own.tokens_at = now;
    own.tokens = second;  // as many as can be used at once
  }
  auto const part = one_part_in.load(std::memory_order_relaxed);
  auto const allowed = part != 0 ? (now - own.first_at) / part : 0;
  if (own.spent > second / free_part_of_second + allowed) return false;
  auto const each = second / (is_quick ? quick_a_second : slow_a_second);
  auto const most = each * (is_quick ? quick_at_once : slow_at_once);
  own.tokens = std::min(own.tokens + (now - own.tokens_at), most);
  own.tokens_at = now;
  if (own.tokens < each) return false;
  own.tokens -= each;
  return true;
}

}  // namespace

void read_native_stacks(std::uint8_t kinds, double share, python_runtime const* python) noexcept {
  one_part_in.store(share > 0 ? static_cast<std::uint64_t>(1 / share) : 0,
                    std::memory_order_relaxed);
  if (kinds != 0 && python != nullptr && python_end.load() == 0) {
    std::array<std::uintptr_t, 1> const inside{
        reinterpret_cast<std::uintptr_t>(python->some_code())};
    std::array<std::uint32_t, 1> number{};
    if (binaries().find(inside, number, count_libraries()) && number[0] != 0) {
      python_begin.store(binaries().at(number[0]).begin);
      python_end.store(binaries().at(number[0]).end);
    }
  }
  detail::native_kinds.store(kinds, std::memory_order_release);
}

bool unwinder_is_wanted() noexcept {
  return detail::native_kinds.load(std::memory_order_relaxed) != 0 &&
         !unwinder_tried.load(std::memory_order_relaxed);
}

void load_unwinder() noexcept {
  if (!unwinder_is_wanted() || unwinder_tried.exchange(true)) return;
  // Never closed. Its functions for exceptions stay behind those of the program (RTLD_LOCAL).
  auto* const library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return;
  auto* const found = reinterpret_cast<quick_walk>(real_dlsym()(library, "unw_backtrace"));
  removed_before.store(count_libraries().removed, std::memory_order_relaxed);
  quick.store(found, std::memory_order_release);
}

void native_stacks_have_ticks(std::uint64_t a_second) noexcept {
  if (a_second != 0) ticks_a_second.store(a_second, std::memory_order_relaxed);
}

bool detail::is_long_wait(std::uint64_t ticks) noexcept {
  return ticks >= ticks_a_second.load(std::memory_order_relaxed) / (1'000'000'000 / long_wait_ns);
}

std::uint16_t detail::number_native_stack(thread_log& log, correlation_id of_call) noexcept {
  auto* stacks = stacks_of(log);
  if (stacks == nullptr) return 0;
  auto const correlation = raw(of_call);
  // A copy that blocks is both a call and a launch.
  if (correlation != 0 && stacks->native.correlation == correlation && stacks->native.number != 0)
    return stacks->native.number;
  if (!may_walk(*stacks, read_ticks(), quick.load(std::memory_order_relaxed) != nullptr))
    return python_stack_number(log);
  auto const python = python_stack_number(log, true);
  no_cancellation const here;  // libunwind may write to a pipe, to see whether memory is there
  auto const saved_errno = errno;
  auto const begin = read_ticks();
  auto const libraries = count_libraries();
  auto const number = number_native(log, libraries, quick_one(libraries), python);
  auto const spent = read_ticks() - begin;
  stacks = stacks_of(log);  // it may have moved
  // A thread that lost its core meanwhile has not spent that time here.
  stacks->native.spent += std::min(spent, ticks_a_second.load(std::memory_order_relaxed) / 1000);
  stacks->native.correlation = correlation;
  stacks->native.number = number;
  thread_counters::bump(log.counters.stack_ticks, spent);
  errno = saved_errno;
  return number;
}

}  // namespace gpuprof::guest
