// SPDX-License-Identifier: Apache-2.0
// Names: one id a text, whoever asks, and a limit.
#include "guest/nvtx/name_registry.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("equal texts have the same id, different texts different ids") {
  name_registry registry;
  auto const step = registry.intern("step");
  CHECK(registry.intern("step") == step);
  CHECK(registry.intern("stop") != step);
  CHECK(registry.text(step) == "step");
}

TEST_CASE("id 0 is the empty text, and unknown ids give empty texts") {
  name_registry registry;
  CHECK(registry.intern("") == name_id{0});
  CHECK(registry.text(name_id{0}).empty());
  CHECK(registry.text(name_id{77}).empty());
}

TEST_CASE("a reader with a cursor sees each name once, in order") {
  name_registry registry;
  std::size_t cursor = 0;
  std::vector<std::string> seen;
  auto const look = [&] {
    registry.for_each_new(cursor, [&](name_id id, std::string_view text) {
      seen.push_back(std::to_string(raw(id)) + "=" + std::string(text));
    });
  };
  look();
  CHECK(seen.empty());
  registry.intern("a");
  registry.intern("b");
  registry.intern("a");
  look();
  registry.intern("c");
  look();
  CHECK(seen == std::vector<std::string>{"1=a", "2=b", "3=c"});
}

TEST_CASE("beyond the limit of names, new ones share one id and are counted") {
  name_registry registry({.names = 2, .bytes = 1000});
  auto const a = registry.intern("a");
  registry.intern("b");
  auto const c = registry.intern("c");
  CHECK(registry.text(c) == "(too many names)");
  CHECK(registry.intern("d") == c);
  CHECK(registry.intern("a") == a);
  CHECK(registry.refused() == 2);
}

TEST_CASE("beyond the limit of bytes, new names are refused, shorter ones included") {
  name_registry registry({.names = 100, .bytes = 10});
  registry.intern("12345678");
  CHECK(registry.text(registry.intern("abc")) == "(too many names)");
  CHECK(registry.text(registry.intern("ab")) == "ab");
}

TEST_CASE("kernels keep their names in a program with a new name for each range") {
  name_registry registry({.names = 100, .bytes = 10'000});
  auto cache = std::make_unique<name_cache>();
  auto const step = cache->intern("step", registry);
  for (int i = 0; i < 1000; ++i) cache->intern("request " + std::to_string(i), registry);
  CHECK(registry.text(registry.intern("_Z4gemmPf")) == "_Z4gemmPf");
  CHECK(registry.refused() == 0);
  CHECK(cache->intern("step", registry) == step);
  CHECK(registry.text(cache->intern("request 7", registry)) == "request 7");  // of the first ones
}

TEST_CASE("range names beyond the limit are grouped by their common part, and counted") {
  name_registry registry({.names = 2, .bytes = 1000});
  auto cache = std::make_unique<name_cache>();
  auto const name = [&](char const* text) { return registry.text(cache->intern(text, registry)); };
  CHECK(name("step") == "step");
  CHECK(name("request 1") == "request 1");
  CHECK(name("request 2") == "request *");
  CHECK(name("request 3") == "request *");
  CHECK(name("layer12.conv3 / forward") == "layer*.conv* / forward");
  CHECK(name("550e8400-e29b-41d4-a716-446655440000: decode") == "*: decode");
  CHECK(name("id=0x7f3a, 3 of 12") == "id=*, * of *");
  CHECK(registry.grouped() == 5);
  CHECK(name("warm up") == "warm up");  // nothing that differs: it is its own
  CHECK(name("r\xc3\xa9sum\xc3\xa9 4") == "r\xc3\xa9sum\xc3\xa9 *");
  CHECK(name("request 1") == "request 1");
  CHECK(registry.grouped() == 6);
  CHECK(registry.refused() == 0);
}

TEST_CASE("if there are too many groups the common part is the first word") {
  name_registry registry({.names = 1, .bytes = 1000, .groups = 3});
  auto cache = std::make_unique<name_cache>();
  auto const name = [&](std::string const& text) {
    return registry.text(cache->intern(text, registry));
  };
  name("step");
  for (auto const* const text : {"one", "two", "three"}) CHECK(name(text) == text);
  CHECK(name("request kqzvbx") == "request*");
  CHECK(name("request wprtnm") == "request*");
  CHECK(name("[wprtnm]") == "*");
  CHECK(name("four") == "four*");
  CHECK(name("five") == "(too many names)");
  CHECK(registry.refused() == 1);
  CHECK(registry.grouped() == 4);
  std::string const endless(5000, 'x');
  CHECK(name("request " + endless) == "request*");
}

TEST_CASE("payload texts have their own limit, and beyond it they are empty") {
  name_registry registry({.names = 2, .bytes = 1000});
  auto cache = std::make_unique<name_cache>();
  auto const payload = [&](int i) {
    return registry.text(
        registry.intern("{\"id\":" + std::to_string(i) + "}", name_place::payload));
  };
  CHECK(payload(1) == "{\"id\":1}");
  CHECK(payload(2) == "{\"id\":2}");
  CHECK(payload(3) == "");
  CHECK(payload(2) == "{\"id\":2}");
  CHECK(registry.refused() == 1);
  CHECK(registry.grouped() == 0);
  CHECK(registry.text(cache->intern("step", registry)) == "step");
  CHECK(registry.text(cache->intern("epoch 1", registry)) == "epoch 1");
  CHECK(registry.text(registry.intern("_Z4gemmPf")) == "_Z4gemmPf");
}

TEST_CASE("names count against the memory limit, and each place has its share") {
  constexpr std::size_t limit = 1 << 20;
  memory_budget budget{limit};
  name_registry registry;
  registry.intern("before");
  registry.count_against(budget);
  auto const before = budget.used();
  CHECK(before == registry.memory());
  CHECK(before > 0);
  std::string const tail(400, 'x');
  auto const fill = [&](name_place place, char const* begin) {
    auto const used = budget.used();
    for (int i = 0; i < 4000; ++i) registry.intern(begin + std::to_string(i) + " " + tail, place);
    return budget.used() - used;
  };
  auto const ranges = fill(name_place::program, "range ");
  CHECK(ranges > limit / 5);
  CHECK(ranges < limit / 4 + 2000);  // and the group they are in
  auto const payloads = fill(name_place::payload, "payload ");
  CHECK(payloads > limit / 10);
  CHECK(payloads <= limit / 8);
  auto const kernels = fill(name_place::own, "kernel ");
  CHECK(kernels > limit / 5);
  CHECK(kernels <= limit / 4);
  CHECK(budget.used() == registry.memory());
  CHECK(budget.used() < limit * 5 / 8 + 2000);
}

TEST_CASE("if buffers have used up the memory, range names are grouped and kernel names are kept") {
  memory_budget budget{1 << 20};
  name_registry registry;
  registry.count_against(budget);
  REQUIRE(budget.reserve(1 << 20));
  CHECK(registry.text(registry.intern("step 1", name_place::program)) == "step *");
  CHECK(registry.text(registry.intern("{1}", name_place::payload)) == "");
  CHECK(registry.text(registry.intern("_Z4gemmPf")) == "_Z4gemmPf");
  budget.release(1 << 20);
  CHECK(registry.text(registry.intern("step 2", name_place::program)) == "step 2");
}

TEST_CASE("a new budget, as in a child, takes over all memory in use") {
  memory_budget parents{1 << 20}, childs{1 << 20};
  name_registry registry;
  registry.count_against(parents);
  registry.intern("step");
  registry.count_against(childs);
  CHECK(parents.used() == 0);
  CHECK(childs.used() == registry.memory());
}

TEST_CASE("an endless name is cut") {
  name_registry registry;
  std::string const endless(name_registry::max_text + 5, 'x');
  CHECK(registry.text(registry.intern(endless)).size() == name_registry::max_text);
}

TEST_CASE("the cache agrees with the registry for texts of every length") {
  name_registry registry;
  auto cache = std::make_unique<name_cache>();
  std::string text;
  for (int length = 1; length < 200; ++length) {
    text += static_cast<char>('a' + length % 26);
    auto const id = cache->intern(text, registry);
    CHECK(id == registry.intern(text));
    CHECK(cache->intern(text, registry) == id);
  }
}

TEST_CASE("the cache compares content: a reused buffer with another text is another name") {
  name_registry registry;
  auto cache = std::make_unique<name_cache>();
  char buffer[] = "batch 0";
  auto const first = cache->intern(buffer, registry);
  buffer[6] = '1';
  auto const second = cache->intern(buffer, registry);
  CHECK(registry.text(first) == "batch 0");
  CHECK(registry.text(second) == "batch 1");
}

TEST_CASE("a text at the address of another is another name") {
  auto cache = std::make_unique<name_cache>();
  std::array<char, 64> buffer{};
  auto const intern = [&](std::string const& text) {
    std::copy(text.c_str(), text.c_str() + text.size() + 1, buffer.begin());
    return cache->intern(buffer.data(), buffer.size());
  };
  for (auto const* const text : {"forward", "forwards", "for", "forward", "", "for", "backward"}) {
    CHECK(names().text(intern(text)) == text);
    CHECK(names().text(intern(text)) == text);
  }
  CHECK(cache->intern("forward pass", 7) == intern("forward"));
}

TEST_CASE("a text with a zero in it is not taken for its beginning") {
  // The slot that is looked at first for a text at a new address.
  auto const is_in_first_slot = [](std::string const& text) {
    return content_hash(text) % 128 == 0;
  };
  std::string whole, beginning;
  for (int i = 0; whole.empty() || !is_in_first_slot(whole); ++i) {
    beginning = "begin " + std::to_string(i);
    whole = beginning + std::string(1, '\0') + "end";
  }
  auto cache = std::make_unique<name_cache>();
  auto const id = cache->intern(whole);
  CHECK(cache->intern(whole) == id);
  CHECK(names().text(cache->intern(beginning.c_str(), 64)) == beginning);
}

TEST_CASE("a cache smaller than the set of names still gives the right ids") {
  name_registry registry;
  auto cache = std::make_unique<name_cache>();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5000; ++i) {
      auto const text = "name " + std::to_string(i);
      auto const id = cache->intern(text, registry);
      REQUIRE(registry.text(id) == text);
    }
  }
  CHECK(registry.size() == 5001);
}

TEST_CASE("texts that differ in one byte have different hashes, at any length") {
  for (std::size_t length = 1; length < 40; ++length) {
    std::string text(length, 'a');
    auto const hash = content_hash(text);
    for (auto& c : text) {
      c = 'b';
      CHECK(content_hash(text) != hash);
      c = 'a';
    }
  }
}

TEST_CASE("threads that ask for the same names at once get the same ids") {
  name_registry registry;
  std::vector<std::vector<name_id>> got(4);
  std::vector<std::jthread> threads;
  for (auto& mine : got) {
    threads.emplace_back([&registry, &mine] {
      auto cache = std::make_unique<name_cache>();
      for (int i = 0; i < 1000; ++i) mine.push_back(cache->intern(std::to_string(i), registry));
    });
  }
  threads.clear();
  CHECK(got[0] == got[1]);
  CHECK(got[0] == got[2]);
  CHECK(got[0] == got[3]);
  CHECK(registry.size() == 1001);
}
