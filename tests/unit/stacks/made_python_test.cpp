// SPDX-License-Identifier: Apache-2.0
// Stacks of a made-up CPython: its objects are bytes of this test, laid out as in 3.13.
#include "../nvtx/seen.hpp"
#include "guest/stacks/known_stacks.hpp"
#include "guest/stacks/module_name.hpp"
#include "guest/stacks/python_runtime.hpp"
#include "guest/stacks/python_stack.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

int const code_type = 1, text_type = 2, bytes_type = 3;

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

constexpr std::size_t object_bytes = 512, frame_bytes = 128;
using object = std::array<std::byte, object_bytes>;

/// Objects of one thread: a chain of calls, innermost first.
struct made_python {
  static constexpr std::size_t depth = 5;

  alignas(16) std::array<object, depth> codes{}, files{}, functions{}, tables{};
  alignas(16) std::array<std::array<std::byte, frame_bytes>, depth> frames{};
  alignas(16) std::array<std::byte, 1024> state{};

  made_python() {
    for (std::size_t i = 0; i < depth; ++i) {
      text(files[i], "/home/you/file" + std::to_string(i) + ".py");
      text(functions[i], "function" + std::to_string(i));
      auto* const table = tables[i].data();
      put<void const*>(table + 8, &bytes_type);
      put<std::size_t>(table + 16, 5);
      for (std::size_t b = 0; auto const byte : {128, 0, 216, 8, 9})
        put<std::uint8_t>(table + 32 + b++, static_cast<std::uint8_t>(byte));
      auto* const code = codes[i].data();
      put<void const*>(code + 8, &code_type);
      put<std::int32_t>(code + 68, static_cast<int>(10 * (i + 1)));
      put<void const*>(code + 112, files[i].data());
      put<void const*>(code + 128, functions[i].data());
      put<void const*>(code + 136, tables[i].data());
      auto* const frame = frames[i].data();
      put<void const*>(frame, code);
      put<void const*>(frame + 8, i + 1 < depth ? frames[i + 1].data() : nullptr);
      put<void const*>(frame + 56, code + 200 + 2);  // its second instruction: the line after
    }
    put<void const*>(state.data() + 72, frames[0].data());
    put<void const*>(state.data() + 232, frames[0].data());
  }

  static void text(object& into, std::string const& characters) {
    put<void const*>(into.data() + 8, &text_type);
    put<std::size_t>(into.data() + 16, characters.size());
    put<std::uint32_t>(into.data() + 32, (1u << 2) | (1u << 5) | (1u << 6));
    std::memcpy(into.data() + 40, characters.data(), characters.size());
  }
};

/// A module "outer" that holds a list "h", that holds the module "inner" as "3".
struct made_modules {
  static constexpr std::size_t before = 64;  // the pointer to the dict stands in front of an object
  struct module {
    alignas(16) object bytes{}, attributes{}, keys{}, held{}, held_keys{};
    std::byte* self() { return bytes.data() + before; }
  };
  alignas(16) object type{}, dict_type{}, modules_text{}, h_text{}, three_text{};
  std::array<char, 16> class_name{"Linear"};
  module outer, list, inner;

  made_modules() {
    made_python::text(modules_text, "_modules");
    made_python::text(h_text, "h");
    made_python::text(three_text, "3");
    put<void const*>(type.data() + 24, class_name.data());
    put<std::uint64_t>(type.data() + 168, 1 << 4);
    put<std::uint64_t>(dict_type.data() + 168, 1 << 29);
    fill(outer, h_text, list.self());
    fill(list, three_text, inner.self());
    fill(inner, three_text, nullptr);
  }
  void fill(module& one, object const& name, std::byte const* held) {
    put<void const*>(one.self() + 8, type.data());
    put<void const*>(one.self() - 24, one.attributes.data());
    dict(one.attributes, one.keys, modules_text, one.held.data());
    dict(one.held, one.held_keys, name, held);
  }
  void dict(object& into, object& keys, object const& key, std::byte const* value) {
    put<void const*>(into.data() + 8, dict_type.data());
    put<void const*>(into.data() + 32, keys.data());
    put<std::uint8_t>(keys.data() + 9, 3);   // 8 bytes of index
    put<std::uint8_t>(keys.data() + 10, 1);  // keys are texts
    put<std::size_t>(keys.data() + 24, 1);
    put<void const*>(keys.data() + 40, key.data());
    put<void const*>(keys.data() + 48, value);
  }
};

made_python* of_this_thread = nullptr;

python_runtime const& runtime() {
  static python_runtime const made(
      *python_layout_of(0x030D00F0),
      {.state_of_this_thread = [] { return static_cast<void*>(of_this_thread->state.data()); },
       .is_initialized = [] { return 1; },
       .code_type = &code_type,
       .text_type = &text_type,
       .bytes_type = &bytes_type});
  return made;
}

struct stacks_seen : gpuprof::test::seen {
  std::vector<std::uint16_t> numbers;
  std::vector<std::string> described;

  void stack(stack_note const& note) {
    numbers.push_back(note.number);
    std::string text;
    for (auto const& frame : note.frames)
      text += names().text(frame.function) + ":" + std::to_string(frame.line) + " ";
    described.push_back(text);
  }
};

/// Runs `body` with the made-up Python as that of its thread.
template <class Body>
stacks_seen run_with(made_python& python, Body body) {
  configure_thread_logs(&gpuprof::test::budget(), gpuprof::test::ring_slots);
  of_this_thread = &python;
  read_python_stacks(&runtime());
  stacks_seen seen;
  std::thread([&] {
    auto* const log = this_thread_log();
    REQUIRE(log != nullptr);
    body(*log);
    drain_log(*log, seen);
  }).join();
  read_python_stacks(nullptr);
  return seen;
}

}  // namespace

TEST_CASE("layouts are known for CPython 3.11 to 3.15") {
  for (unsigned long const minor : {11, 12, 13, 14, 15})
    CHECK(python_layout_of((3ul << 24) | (minor << 16) | 0x01F0) != nullptr);
  for (unsigned long const minor : {10, 16})
    CHECK(python_layout_of((3ul << 24) | (minor << 16) | 0x01F0) == nullptr);
  CHECK(python_layout_of(4ul << 24) == nullptr);
}

TEST_CASE("a stack is described once, and found again by its frames") {
  made_python python;
  std::uint16_t first = 0, again = 0, other = 0;
  auto const seen = run_with(python, [&](thread_log& log) {
    first = python_stack_number(log);
    again = python_stack_number(log);
    put<void const*>(python.frames[2].data() + 56, python.codes[2].data() + 200);
    other = python_stack_number(log);
  });
  CHECK(first == 1);
  CHECK(again == 1);
  CHECK(other == 2);
  REQUIRE(seen.numbers == std::vector<std::uint16_t>{1, 2});
  CHECK(seen.described[0] == "function0:11 function1:21 function2:31 function3:41 function4:51 ");
  CHECK(seen.described[1] == "function0:11 function1:21 function2:30 function3:41 function4:51 ");
}

TEST_CASE("a code object that comes to the address of another is another place") {
  made_python python;
  std::uint16_t first = 0, other = 0;
  run_with(python, [&](thread_log& log) {
    first = python_stack_number(log);
    put<std::uint32_t>(python.codes[1].data() + 92, 77);  // co_version
    other = python_stack_number(log);
  });
  CHECK(first != other);
}

TEST_CASE("frames of calls from C are left out") {
  made_python python;
  put<std::uint8_t>(python.frames[1].data() + 70, 3);
  put<void const*>(python.codes[3].data() + 8, &text_type);  // not a code object
  auto const seen = run_with(python, [&](thread_log& log) { python_stack_number(log); });
  REQUIRE(seen.described.size() == 1);
  CHECK(seen.described[0] == "function0:11 function2:31 function4:51 ");
}

TEST_CASE("numbers are given again when a thread has had very many stacks") {
  made_python python;
  std::vector<std::uint16_t> numbers;
  auto const seen = run_with(python, [&](thread_log& log) {
    for (std::uint32_t version = 1; version <= max_stacks_of_thread + 10u; ++version) {
      put<std::uint32_t>(python.codes[0].data() + 92, version);
      numbers.push_back(python_stack_number(log));
      stacks_seen aside;
      drain_log(log, aside);
    }
  });
  CHECK(numbers[max_stacks_of_thread - 1] <= max_stacks_of_thread);
  CHECK(numbers.back() <= max_stacks_of_thread);
  for (auto const number : numbers) CHECK(number != 0);
}

TEST_CASE("damaged frames of another thread cost a stack and never a crash") {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    made_python python;
    auto* const bytes = reinterpret_cast<std::byte*>(&python);
    for (auto damaged = random() % 8 + 1; damaged > 0; --damaged) {
      auto* const at = bytes + random() % (sizeof python - 8);
      random() % 2 != 0 ? put<std::uint64_t>(at, random()) : put<std::uint8_t>(at, random() % 256);
    }
    std::array<std::byte, 2048> ahead;
    std::array<std::byte, 1024> scratch;
    std::array<char, 256> text;
    auto const* frame = python.frames[0].data();
    frames_of_other const memory(0, frame, frame + frame_bytes * 2, ahead);
    python_position at;
    for (int steps = 0; steps < 50 && frame != nullptr; ++steps) {
      if (!runtime().step(memory, frame, at)) break;
      if (at.code == nullptr || !runtime().is_code(memory, at.code)) continue;
      CHECK(runtime().file_name(memory, at.code, text).size() <= text.size());
      CHECK(runtime().function_name(memory, at.code, text).size() <= text.size());
      runtime().line(memory, at, scratch);
    }
  }
}

TEST_CASE("a module has the path by which the outer one holds it, and its class") {
  made_modules made;
  std::array<char, 512> text;
  module_place place;
  auto const name = [&](std::byte const* outer, std::byte const* module) {
    return std::string(module_name(runtime(), outer, module, text, place));
  };
  CHECK(name(made.outer.self(), made.inner.self()) == "h.3: Linear");
  CHECK(place.key == made.three_text.data());
  CHECK(name(made.list.self(), made.inner.self()) == "3: Linear");
  CHECK(name(nullptr, made.inner.self()) == ": Linear");
  CHECK(name(made.inner.self(), made.outer.self()) == ": Linear");
  CHECK(name(nullptr, nullptr).empty());
}

TEST_CASE("a name is known as long as the dict entry is the same") {
  made_modules made;
  std::array<char, 512> text;
  known_module_names names;
  auto& known = names.find(made.list.self(), made.inner.self());
  known.outer = made.list.self();
  known.module = made.inner.self();
  module_name(runtime(), known.outer, known.module, text, known.place);
  known.name = static_cast<name_id>(7);
  CHECK(raw(names.find(made.list.self(), made.inner.self()).name) == 7);
  put<void const*>(made.list.held_keys.data() + 40, made.h_text.data());
  CHECK(raw(names.find(made.list.self(), made.inner.self()).name) == 0);
}

TEST_CASE("damaged modules cost a name and never a crash") {
  std::mt19937 random(6);
  for (int i = 0; i < 20'000; ++i) {
    made_modules made;
    auto* const bytes = reinterpret_cast<std::byte*>(&made);
    for (auto damaged = random() % 8 + 1; damaged > 0; --damaged) {
      auto* const at = bytes + random() % (sizeof made - 8);
      random() % 2 != 0 ? put<std::uint64_t>(at, random()) : put<std::uint8_t>(at, random() % 256);
    }
    std::array<char, 512> text;
    module_place place;
    CHECK(module_name(runtime(), made.outer.self(), made.inner.self(), text, place).size() <=
          text.size());
  }
}

namespace {

/// A Python with modules in pages of its own, so that some can vanish.
struct vanishing_python {
  struct content {
    made_python python;
    made_modules modules;
  };
  static constexpr std::size_t page = 4096, pages = (sizeof(content) + page - 1) / page;

  vanishing_python() {
    memory = static_cast<std::byte*>(
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    auto& made = *new (memory) content;
    put<void const*>(made.python.frames[1].data() + 72, made.modules.inner.self());
    put<void const*>(made.python.frames[3].data() + 72, made.modules.outer.self());
    put<void const*>(made.python.frames[3].data(), made.python.codes[1].data());  // calls itself
    whole.assign(memory, memory + sizeof(content));
  }
  ~vanishing_python() { munmap(memory, pages * page); }

  made_python& python() { return reinterpret_cast<content*>(memory)->python; }

  std::byte* memory = nullptr;
  std::vector<std::byte> whole;
};

/// Bits that flip, words that hold any number or the address of another object, and pages that are
/// gone. Calls look(state) after each.
template <class Look>
void damage(vanishing_python& made, std::mt19937_64& random, Look look) {
  std::memcpy(made.memory, made.whole.data(), made.whole.size());
  auto const any_of = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  auto const any_address = [&] { return made.memory + any_of(made.whole.size() - 8); };
  // Mostly frames and the thread's state: what is in texts and tables only gives other names.
  auto& python = made.python();
  auto const any_place = [&]() -> std::byte* {
    switch (any_of(8)) {
      case 0:
        return any_address();
      case 1:
        return python.codes[any_of(made_python::depth)].data() + 8 * any_of(26);
      case 2:
        return python.state.data() + (any_of(2) == 0 ? 72 : 232);
      default:
        return python.frames[any_of(made_python::depth)].data() + 8 * any_of(15);
    }
  };
  for (auto damaged = any_of(6) + 1; damaged > 0; --damaged) {
    auto* const at = any_place();
    switch (any_of(4)) {
      case 0:
        *at ^= static_cast<std::byte>(1u << any_of(8));
        break;
      case 1:
        put<std::uint64_t>(at, random() >> any_of(64));
        break;
      case 2:
        put<void const*>(at, any_address());
        break;
      default:
        put<void const*>(at, made.memory + 8 * any_of(made.whole.size() / 8));
    }
  }
  auto const vanishes = any_of(16) == 0;
  auto* const page = made.memory + vanishing_python::page * any_of(vanishing_python::pages);
  if (vanishes) mprotect(page, vanishing_python::page, PROT_NONE);
  look(made.python().state.data());
  if (vanishes) mprotect(page, vanishing_python::page, PROT_READ | PROT_WRITE);
}

/// Reads so many damaged stacks as those of another thread, as the sampler does, and hands over
/// what is described. Returns how many were.
std::size_t read_damaged(std::size_t times, unsigned seed) {
  vanishing_python made;
  std::mt19937_64 random(seed);
  std::size_t numbered = 0;
  run_with(made.python(), [&](thread_log& log) {
    runtime().is_module_call(made.python().codes[1].data());
    for (std::size_t i = 0; i < times; ++i) {
      damage(made, random, [&](std::byte const* state) {
        numbered += python_stack_of_other(runtime(), log, state) != 0;
      });
      if (i % 64 != 0) continue;
      stacks_seen aside;
      drain_log(log, aside);
    }
    runtime().is_module_call(nullptr);
  });
  return numbered;
}

}  // namespace

TEST_CASE("whatever the frames of another thread hold, they cost a stack and never a crash") {
  constexpr std::size_t times = 200'000;
  auto const numbered = read_damaged(times, 7);
  CHECK(numbered > times / 20);  // some damage does not matter
  CHECK(numbered < times);
}

TEST_CASE("ten million damaged stacks are read", "[.][ten million]") {
  CHECK(read_damaged(10'000'000, 8) > 0);
}
