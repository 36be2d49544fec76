// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/python_stack.hpp"

#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/ticks.hpp"
#include "guest/stacks/known_stacks.hpp"
#include "guest/stacks/python_threads.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <unistd.h>

namespace gpuprof::guest {
namespace detail {

std::atomic<python_runtime const*> python_read{nullptr};

}  // namespace detail

namespace {

std::atomic<double> most_of_the_time{1};
// PyThreadState of the main thread, once it is known. It lives as long as Python.
std::atomic<std::byte const*> main_state{nullptr};

// Stands in front of a stack that is not that of the launching thread.
constexpr std::string_view frame_of_other_thread = "(for another thread)";
constexpr std::uint64_t ticks_to_read_again = 2'000'000;  // about 1 ms

constexpr unsigned timed_every = 16;  // walks; reading the clock twice takes 20 ns
// The start of a program makes many new stacks, each of which takes some microseconds once.
constexpr std::uint64_t ticks_for_nothing = 50'000'000;  // about 20 ms of a thread
constexpr unsigned judged_every = 1024;                  // launches

/// Reads frames from the inside out.
template <class Memory>
class walk {
 public:
  walk(python_runtime const& python, Memory const& memory, std::byte const* frame) noexcept
      : python_(python), memory_(memory), frame_(frame) {}

  /// Without a code object: there are no more.
  python_position next() noexcept {
    python_position at{};
    for (; frame_ != nullptr && looked_at_ < max_looked_at; ++looked_at_) {
      if (!python_.step(memory_, frame_, at)) break;
      if (at.code != nullptr) return at;
    }
    return {};
  }
  /// Code objects may come to an address where another has been. Those of another thread are not
  /// read for that.
  std::uint64_t hash(std::uint64_t before, python_position const& at) const noexcept {
    if constexpr (Memory::may_fail)
      return hash_of(before, at);
    else
      return hash_of(before, at, python_.identity_of(at.code));
  }
  bool is_damaged() const noexcept { return frame_ != nullptr && looked_at_ < max_looked_at; }
  bool is_longer_than(std::size_t frames) const noexcept {
    return frame_ != nullptr || looked_at_ > frames;
  }

 private:
  static constexpr std::size_t max_looked_at = 4 * max_stack_frames;

  python_runtime const& python_;
  Memory const& memory_;
  std::byte const* frame_;
  std::size_t looked_at_ = 0;
};

struct seen_stack {
  std::array<python_position, max_stack_frames> frames;  // 3 KiB; only `size` of them are touched
  std::size_t size = 0;
  std::uint64_t hash = 0;
  bool is_borrowed = false;  // by a thread that launches for it
  bool is_of_child = false;  // of a child process, whose modules are not looked at
};

constexpr std::size_t scratch_bytes = 16 << 10;

/// Through this function PyTorch calls a module; its first local is the module.
bool is_module_call(std::string_view file, std::string_view function) noexcept {
  return function == "Module._wrapped_call_impl" && file.ends_with("/torch/nn/modules/module.py");
}

/// Through this function the multiprocessing module runs a child process. What has called it are
/// the frames of its parent at the fork.
bool begins_process(std::string_view file, std::string_view function) noexcept {
  return function.ends_with("_bootstrap") && file.ends_with("/multiprocessing/process.py");
}

enum class described : std::uint8_t {
  nothing,  // it is no frame after all
  frame,
  outermost  // nothing that belongs to the stack comes behind it
};

/// Reads the names of a frame.
template <class Memory>
described describe(python_runtime const& python, Memory const& memory, thread_log& log,
                   python_position const& at, bool is_of_child, std::span<std::byte> scratch,
                   log_frame& into) noexcept {
  std::array<char, 1024> for_file, for_function;
  if (Memory::may_fail && !python.is_code(memory, at.code)) return described::nothing;
  auto const file = python.file_name(memory, at.code, for_file);
  // The frame by which C calls Python, in 3.12: its mark lies on the C stack, which has moved on.
  if (Memory::may_fail && file == "<shim>") return described::nothing;
  auto const function = python.function_name(memory, at.code, for_function);
  if (!is_of_child && at.module == nullptr && is_module_call(file, function))
    python.is_module_call(at.code);
  if (!Memory::may_fail && function == "<module>") python.is_code_of_module(at.code);
  into = {.file = log.names.intern(file),
          .function = log.names.intern(function),
          .first_line = python.first_line(memory, at.code),
          .line = python.line(memory, at, scratch)};
  return is_of_child && begins_process(file, function) ? described::outermost : described::frame;
}

name_id name_of_module(python_runtime const& python, thread_log& log, std::byte const* outer,
                       std::byte const* module) noexcept {
  auto& known = stacks_of(log)->modules.find(outer, module);
  if (known.outer != outer || known.module != module) {
    std::array<char, 512> buffer;
    known.outer = outer;
    known.module = module;
    known.name = log.names.intern(module_name(python, outer, module, buffer, known.place));
  }
  return known.name;
}

/// `frames`: those of `stack`, described.
void name_modules(python_runtime const& python, thread_log& log,
                  std::span<python_position const> stack, std::span<log_frame> frames) noexcept {
  std::byte const* outer = nullptr;
  for (auto i = stack.size(); i-- > 0;) {
    auto const* const module = stack[i].module;
    if (module == nullptr) continue;
    frames[i].module = name_of_module(python, log, outer, module);
    outer = module;
  }
}

bool is_new_place(thread_log& log, known_stacks*& stacks, std::uint64_t hash) noexcept {
  auto const place = mixed_hash(hash, 1) | 1;
  if (stacks->place_of(place).hash != 0) return false;
  stacks = with_room(log, stacks);
  stacks->place_of(place) = {place, 0, 0};
  ++stacks->used;
  return true;
}

/// Returns false if this launch is one of those that get no stack.
bool is_walked(thread_log& log, known_stacks*& stacks, std::uint64_t place) noexcept {
  if (is_new_place(log, stacks, place)) return true;
  if (stacks->until_next != 0) {
    --stacks->until_next;
    return false;
  }
  // At random, so that a loop with as many launches is not always seen at the same one.
  auto& random = stacks->random;
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  stacks->until_next = static_cast<std::uint32_t>(random % (2 * stacks->one_in - 1));
  return true;
}

void judge_cost(known_stacks& stacks) noexcept {
  auto const now = read_ticks();
  auto const passed = static_cast<double>(now - stacks.judged_at);
  if (stacks.judged_at != 0 && stacks.timed != 0 && passed > 0) {
    auto const each = static_cast<double>(stacks.timed_ticks) / stacks.timed;
    auto const of_all = each * stacks.launches / passed;
    auto const share = most_of_the_time.load(std::memory_order_relaxed);
    auto const times_too_many = share < 1 ? of_all / share : 1;
    stacks.spent_ticks += static_cast<std::uint64_t>(each * stacks.walks);
    stacks.one_in =
        stacks.spent_ticks < ticks_for_nothing
            ? 1
            : static_cast<std::uint32_t>(std::clamp(std::ceil(times_too_many), 1.0, 1000.0));
  }
  stacks.judged_at = now;
  stacks.launches = stacks.walks = stacks.timed = 0;
  stacks.timed_ticks = 0;
}

/// Describes the stack in the ring. Returns 0 if it cannot be read, or there is no room.
template <class Memory>
std::uint16_t describe_and_number(python_runtime const& python, Memory const& memory,
                                  thread_log& log, seen_stack const& stack) noexcept {
  std::array<log_frame, max_stack_frames> frames;
  std::array<std::byte, scratch_bytes> scratch;
  std::size_t size = 0;
  if (stack.is_borrowed) frames[size++] = {.function = log.names.intern(frame_of_other_thread)};
  auto const first = size;
  for (std::size_t i = 0; i < stack.size && size < frames.size(); ++i) {
    auto const is =
        describe(python, memory, log, stack.frames[i], stack.is_of_child, scratch, frames[size++]);
    if (is == described::nothing) return 0;
    if (is == described::outermost) break;
  }
  if (!stack.is_of_child)
    name_modules(python, log, {stack.frames.data(), size - first},
                 {frames.data() + first, size - first});
  return give_number(log, stack.hash, {frames.data(), size});
}

template <class Memory>
std::uint16_t number_of(python_runtime const& python, Memory const& memory, thread_log& log,
                        seen_stack const& stack) noexcept {
  auto const& known = stacks_of(log)->place_of(stack.hash);
  return known.hash != 0 ? static_cast<std::uint16_t>(known.number)
                         : describe_and_number(python, memory, log, stack);
}

template <class Memory>
seen_stack whole_stack(walk<Memory>& frames, python_position at) noexcept {
  seen_stack stack;
  for (; at.code != nullptr && stack.size < max_stack_frames; at = frames.next()) {
    stack.hash = frames.hash(stack.hash, at);
    stack.frames[stack.size++] = at;
  }
  stack.hash = mixed_hash(stack.hash, stack.size) | 1;  // 0 marks a free slot
  return stack;
}

void count_time(thread_log& log, std::uint64_t ticks) noexcept {
  auto& stacks = *stacks_of(log);  // it may have moved
  stacks.timed_ticks += ticks;
  ++stacks.timed;
  thread_counters::bump(log.counters.stack_ticks, ticks * timed_every);
}

}  // namespace

void read_python_stacks(python_runtime const* runtime, double share) noexcept {
  most_of_the_time.store(share, std::memory_order_relaxed);
  detail::python_read.store(runtime, std::memory_order_release);
}

namespace {

/// Kept out of the caller, for they need 20 KiB of stack.
__attribute__((noinline)) std::uint16_t number_of_last(python_runtime const& python,
                                                       thread_log& log) noexcept {
  std::array<log_frame, max_stack_frames> frames;
  std::array<std::byte, scratch_bytes> scratch;
  auto& last = stacks_of(log)->last;
  last.describe_all(frames, [&](python_position const& at, std::byte const* outer) {
    log_frame frame;
    describe(python, own_frames{}, log, at, false, scratch, frame);
    if (at.module != nullptr) frame.module = name_of_module(python, log, outer, at.module);
    return frame;
  });
  auto const number = give_number(log, last.hash(), {frames.data(), last.size()});
  stacks_of(log)->last.number = number;  // it may have moved
  return number;
}
__attribute__((noinline)) std::uint16_t number_of_deep(python_runtime const& python,
                                                       thread_log& log,
                                                       std::byte const* innermost) noexcept {
  own_frames const memory;
  walk frames(python, memory, innermost);
  auto const stack = whole_stack(frames, frames.next());
  stacks_of(log)->is_deep = frames.is_longer_than(last_stack::capacity);
  return stack.size != 0 ? number_of(python, memory, log, stack) : std::uint16_t{0};
}

std::uint16_t number_of_own(python_runtime const& python, thread_log& log, known_stacks& stacks,
                            std::byte const* innermost) noexcept {
  if (!stacks.is_deep) {
    auto const outcome = stacks.last.follow(python, innermost);
    if (outcome == last_stack::outcome::same && stacks.last.number != 0) return stacks.last.number;
    if (outcome != last_stack::outcome::too_deep) {
      if (stacks.last.size() == 0) return 0;
      auto const& known = stacks.place_of(stacks.last.hash());
      if (known.hash == 0) return number_of_last(python, log);
      return stacks.last.number = static_cast<std::uint16_t>(known.number);
    }
  }
  return number_of_deep(python, log, innermost);
}

std::uint16_t own_stack(python_runtime const& python, thread_log& log, known_stacks* stacks,
                        std::byte const* innermost, bool always) noexcept {
  if (stacks->launches == judged_every || stacks->judged_at == 0) judge_cost(*stacks);
  ++stacks->launches;
  if (stacks->one_in != 1) {
    own_frames const memory;
    auto const first = walk(python, memory, innermost).next();
    if (first.code == nullptr) return 0;
    if (!is_walked(log, stacks, hash_of(0, first)) && !always) return 0;
  }
  auto const is_timed = stacks->walks++ % timed_every == 0;
  auto const begin = is_timed ? read_ticks() : 0;
  auto const* const module_call = python.module_call();
  auto number = number_of_own(python, log, *stacks, innermost);
  if (python.module_call() != module_call) [[unlikely]]  // now modules are seen
    number = number_of_own(python, log, *stacks_of(log), innermost);
  if (is_timed) count_time(log, read_ticks() - begin);
  return number;
}

/// Kept out of the caller, for it needs 20 KiB of stack.
__attribute__((noinline)) std::uint16_t read_other(python_runtime const& python, thread_log& log,
                                                   std::uint32_t process, std::byte const* state,
                                                   std::byte const* innermost,
                                                   bool is_borrowed) noexcept {
  std::array<std::byte, scratch_bytes> ahead;
  frames_of_other const memory(process, python.frame_memory(process, state),
                               innermost + python_runtime::frame_bytes, ahead);
  walk frames(python, memory, innermost);
  auto stack = whole_stack(frames, frames.next());
  if (stack.size == 0 || frames.is_damaged()) return 0;
  stack.is_borrowed = is_borrowed;
  stack.is_of_child = process != 0;
  // The same addresses hold other code in another process.
  stack.hash = mixed_hash(stack.hash, is_borrowed ? 2 : 3 + std::uint64_t{process}) | 1;
  return number_of(python, memory, log, stack);
}

/// The main thread's stack, read again when its innermost frame is another one, or is older than a
/// millisecond: PyTorch's threads of the backward pass and XLA's work for the main thread, which
/// waits for them.
std::uint16_t stack_of_main_thread(python_runtime const& python, thread_log& log,
                                   known_stacks* stacks) noexcept {
  auto const now = read_ticks();
  auto const is_recent = now - stacks->other_read_at < ticks_to_read_again;
  auto const* state = main_state.load(std::memory_order_acquire);
  if (state == nullptr && !is_recent) {  // the main thread has launched nothing yet
    state = state_of_main_thread(python);
    main_state.store(state, std::memory_order_release);
    if (state == nullptr) stacks->other_read_at = now;
  }
  if (state == nullptr) return 0;
  auto const* const innermost = python.innermost_frame(state);
  if (innermost == stacks->other_frame && is_recent) return stacks->other_number;
  auto const number = innermost != nullptr ? read_other(python, log, 0, state, innermost, true) : 0;
  stacks = stacks_of(log);  // it may have moved
  stacks->other_frame = innermost;
  stacks->other_read_at = now;
  stacks->other_number = static_cast<std::uint16_t>(number);
  thread_counters::bump(log.counters.stack_ticks, read_ticks() - now);
  return stacks->other_number;
}

}  // namespace

std::uint16_t python_stack_of_other(python_runtime const& python, thread_log& log,
                                    std::byte const* state, std::uint32_t process) noexcept {
  if (stacks_of(log) == nullptr) return 0;
  constexpr int most_tries = 3;
  for (int i = 0; i < most_tries; ++i) {
    auto const* const innermost = python.innermost_frame_of_other(process, state);
    if (innermost == nullptr) return 0;
    auto const number = read_other(python, log, process, state, innermost, false);
    // A thread that runs Python changes its frames; then what was read may be of two moments.
    if (number != 0 && python.innermost_frame_of_other(process, state) == innermost) return number;
  }
  return 0;
}

std::uint16_t detail::number_python_stack(python_runtime const& python, thread_log& log,
                                          bool always) noexcept {
  auto const* const state = python.state_of_this_thread();
  auto* const stacks = stacks_of(log);
  if (stacks == nullptr) return 0;
  auto const* const innermost = state != nullptr ? python.innermost_frame(state) : nullptr;
  if (innermost == nullptr)
    return python.runs() ? stack_of_main_thread(python, log, stacks) : std::uint16_t{0};
  if (stacks->is_of_main_thread) main_state.store(state, std::memory_order_release);
  return own_stack(python, log, stacks, innermost, always);
}

}  // namespace gpuprof::guest
