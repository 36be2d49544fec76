// SPDX-License-Identifier: Apache-2.0
// A made-up Python calls and returns at random. What follow() finds by comparing with the last
// stack is what it finds without one.
#include "guest/stacks/last_stack.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

using namespace gpuprof::guest;

namespace {

int const code_kind = 1, other_kind = 2;

template <class T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

using outcome = last_stack::outcome;

class calling_python {
 public:
  static constexpr std::size_t slots = 400, code_count = 12;
  static constexpr std::size_t code_of_c_calls = 2;  // these stand for calls from C

  explicit calling_python(unsigned long minor)
      : layout_(*python_layout_of((3ul << 24) | (minor << 16) | 0x01F0)),
        runtime_(layout_, {.code_type = &code_kind}) {
    for (auto& code : codes_) {
      code.fill(std::byte{0});
      write<void const*>(code.data() + 8, &code_kind);
    }
    for (auto& frame : frames_) frame.fill(std::byte{0});
    for (std::size_t i = 0; i < slots; ++i) free_.push_back(i);
    std::shuffle(free_.begin(), free_.end(), random);
  }

  python_runtime const& runtime() const { return runtime_; }
  std::size_t depth() const { return calls_.size(); }
  std::byte const* innermost() const { return calls_.empty() ? nullptr : frame(calls_.back()); }

  /// `place`: 0 is outside of all others.
  void call(std::size_t place) {
    if (free_.empty()) return;
    auto const at = free_.back();
    free_.pop_back();
    calls_.insert(calls_.begin() + static_cast<std::ptrdiff_t>(place), at);
    change_code(place);
    link();
  }
  /// The next call() gets the frame's memory, as in CPython.
  void end(std::size_t place) {
    free_.push_back(calls_[place]);
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(place));
    link();
  }
  void change_code(std::size_t place) {
    auto const which = random() % code_count;
    auto& code = codes_[which];
    auto const tag = layout_.frame_locals == 80 ? random() % 4 : 0;  // from 3.14 on
    auto* const at = frame(calls_[place]);
    write<std::uint64_t>(at + layout_.frame_code,
                         reinterpret_cast<std::uintptr_t>(code.data()) | tag);
    write<void const*>(at + layout_.frame_locals, &frames_[random() % slots]);
    if (layout_.frame_owner != 0)
      write<std::uint8_t>(at + layout_.frame_owner, which < code_of_c_calls ? 3 : 0);
    change_line(place);
  }
  void change_line(std::size_t place) {
    write<void const*>(frame(calls_[place]) + layout_.frame_instruction,
                       codes_[0].data() + 200 + 2 * (random() % 8));
  }
  void change_local(std::size_t place) {
    write<void const*>(frame(calls_[place]) + layout_.frame_locals, &frames_[random() % slots]);
  }
  /// Another code object comes to the address of one.
  void replace_code() {
    write<std::uint64_t>(codes_[random() % code_count].data() + layout_.code_identity, random());
  }
  void replace_by_other_object() {
    auto& code = codes_[random() % code_count];
    void const* kind = nullptr;
    std::memcpy(&kind, code.data() + 8, sizeof kind);
    write<void const*>(code.data() + 8, kind == &code_kind ? &other_kind : &code_kind);
    write<std::uint64_t>(code.data() + layout_.code_identity, random());
  }
  void find_module_call() { runtime_.is_module_call(codes_[random() % code_count].data()); }

  std::mt19937_64 random{11};

 private:
  std::byte* frame(std::size_t slot) { return frames_[slot].data(); }
  std::byte const* frame(std::size_t slot) const { return frames_[slot].data(); }
  void link() {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      write<void const*>(frame(calls_[i]) + layout_.frame_previous,
                         i == 0 ? nullptr : frame(calls_[i - 1]));
  }

  python_layout const& layout_;
  python_runtime runtime_;
  alignas(16) std::array<std::array<std::byte, 512>, code_count> codes_;
  alignas(16) std::array<std::array<std::byte, 128>, slots> frames_;
  std::vector<std::size_t> calls_, free_;  // outermost first
};

/// What describes the frames; `calls` counts those that had to be described.
std::vector<std::uint64_t> frames_of(calling_python const& python, last_stack& stack,
                                     std::size_t& calls) {
  std::array<log_frame, max_stack_frames> frames;
  auto const number = [](std::byte const* address) {
    return reinterpret_cast<std::uintptr_t>(address);
  };
  stack.describe_all(frames, [&](python_position const& at, std::byte const* outer) {
    ++calls;
    auto const inner = at.module != nullptr ? number(at.module) ^ number(outer) * 3 : 0;
    return log_frame{.address = number(at.code) ^ number(at.instruction) << 20 ^ inner ^
                                python.runtime().identity_of(at.code)};
  });
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < stack.size(); ++i) all.push_back(frames[i].address);
  return all;
}

/// Anything that may happen between two launches.
void do_something(calling_python& python, std::size_t max_depth) {
  auto& random = python.random;
  auto const any = [&] { return random() % python.depth(); };
  if (python.depth() == 0) return python.call(0);
  switch (random() % 16) {
    case 0:  // returns from many calls
      for (auto left = any(); python.depth() > left;) python.end(python.depth() - 1);
      return;
    case 1:  // and makes as many
      while (python.depth() < max_depth) python.call(python.depth());
      return;
    case 2:
      return python.call(any());
    case 3:
      return python.end(any());
    case 4:
      return python.change_code(any());
    case 5:
      return python.change_line(any());
    case 6:
      return python.change_local(any());
    case 7:
      return python.replace_code();
    case 8:
      return python.replace_by_other_object();
    case 9:
      return random() % 8 == 0 ? python.find_module_call() : void();
    default:
      if (random() % 2 == 0) python.end(python.depth() - 1);
      if (random() % 2 == 0 && python.depth() < max_depth) python.call(python.depth());
  }
}

void compare_with_no_last_stack(unsigned long minor, std::size_t max_depth, std::size_t times) {
  auto const python = std::make_unique<calling_python>(minor);
  auto const last = std::make_unique<last_stack>(), alone = std::make_unique<last_stack>();
  std::uint64_t hash_before = 0;
  std::size_t same = 0, wrong = 0, described = 0, described_alone = 0;
  for (std::size_t i = 0; i < times; ++i) {
    do_something(*python, max_depth);
    *alone = last_stack();
    auto const wanted = alone->follow(python->runtime(), python->innermost());
    auto const found = last->follow(python->runtime(), python->innermost());
    wrong += (found == outcome::too_deep) != (wanted == outcome::too_deep);
    wrong += last->size() != alone->size();
    if (last->size() == 0) {
      hash_before = 0;
      continue;
    }
    wrong += last->hash() != alone->hash();
    wrong += found == outcome::same && last->hash() != hash_before;
    same += found == outcome::same;
    hash_before = last->hash();
    if (i % 3 != 0)  // a stack that has a number is not described
      wrong += frames_of(*python, *last, described) != frames_of(*python, *alone, described_alone);
  }
  CHECK(wrong == 0);
  CHECK(same > times / 100);
  CHECK(same < times);
  CHECK(described > times / 100);
  CHECK(described < described_alone / 2);
}

}  // namespace

TEST_CASE("a stack compared with the last one is as if there had been none") {
  for (unsigned long const minor : {11, 12, 13, 14, 15}) {
    INFO("CPython 3." << minor);
    compare_with_no_last_stack(minor, 30, 20'000);
  }
}

TEST_CASE("the same of stacks that are too deep now and then") {
  compare_with_no_last_stack(13, 300, 5'000);
}

TEST_CASE("the number of a stack is forgotten when it changes") {
  auto const python = std::make_unique<calling_python>(13);
  auto const last = std::make_unique<last_stack>();
  for (std::size_t i = 0; i < 10; ++i) python->call(i);
  CHECK(last->follow(python->runtime(), python->innermost()) == outcome::changed);
  last->number = 7;
  CHECK(last->follow(python->runtime(), python->innermost()) == outcome::same);
  CHECK(last->number == 7);
  python->call(5);
  CHECK(last->follow(python->runtime(), python->innermost()) == outcome::changed);
  CHECK(last->number == 0);
}
