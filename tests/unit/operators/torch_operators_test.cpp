// SPDX-License-Identifier: Apache-2.0
// A made PyTorch calls back as the real one does; see support/fake_torch.cpp.
#include "guest/operators/torch_operators.hpp"

#include "model/torch_ranges.hpp"
#include "support/catch.hpp"
#include "unit/nvtx/seen.hpp"

#include <dlfcn.h>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

struct made_torch {
  std::uint64_t (*callbacks)() = nullptr;
  std::uint64_t (*next_number)() = nullptr;
  void (*make_node)() = nullptr;
  void (*call)(char const* name, std::uint64_t scope, std::int64_t number,
               void (*work)()) = nullptr;
};
constexpr std::uint64_t operation = 0, node = 1, user = 7;

made_torch const& torch() {
  static made_torch const loaded = [] {
    void* const library = dlopen(FAKE_TORCH, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    made_torch found;
    found.callbacks =
        reinterpret_cast<decltype(found.callbacks)>(dlsym(library, "fake_torch_callbacks"));
    found.next_number =
        reinterpret_cast<decltype(found.next_number)>(dlsym(library, "fake_torch_next_number"));
    found.make_node =
        reinterpret_cast<decltype(found.make_node)>(dlsym(library, "fake_torch_make_node"));
    found.call = reinterpret_cast<decltype(found.call)>(dlsym(library, "fake_torch_call"));
    return found;
  }();
  return loaded;
}

void begin() {
  std::string reason;
  REQUIRE(begin_torch_operators(reason) == torch_outcome::begun);
  CHECK(reason.empty());
}

std::string domain_of(range_begin const& range) {
  return names().text(range.domain);
}

}  // namespace

TEST_CASE("operators are not recorded before PyTorch is loaded, and not after the end") {
  std::string reason;
  CHECK(begin_torch_operators(reason) == torch_outcome::not_loaded);
  CHECK(reason.empty());
  end_torch_operators();
  CHECK(torch().callbacks() == 0);
  begin();
  CHECK(torch().callbacks() == 3);
  begin();
  CHECK(torch().callbacks() == 3);
  end_torch_operators();
  end_torch_operators();
  CHECK(torch().callbacks() == 0);
  auto const found = run([](thread_log&) { torch().call("aten::mm", operation, -1, nullptr); });
  CHECK(found.lines.empty());
}

TEST_CASE("operators, nodes and record_function are nested ranges of their domains") {
  begin();
  auto const found = run([](thread_log&) {
    torch().call("step", user, -1, [] {
      torch().call("aten::linear", operation, -1,
                   [] { torch().call("aten::addmm", operation, -1, nullptr); });
      torch().call("AddmmBackward0", node, -1, nullptr);
    });
  });
  end_torch_operators();
  CHECK(found.lines == lines{"begin step", "begin aten::linear", "begin aten::addmm",
                             "end aten::addmm", "end aten::linear", "begin AddmmBackward0",
                             "end AddmmBackward0", "end step"});
  REQUIRE(found.begins.size() == 4);
  CHECK(domain_of(found.begins[0]) == torch_user_domain);
  CHECK(domain_of(found.begins[1]) == torch_domain);
  CHECK(found.begins[2].parent == found.begins[1].range);
  CHECK(found.begins[1].category == static_cast<std::uint32_t>(torch_category::operation));
  CHECK(found.begins[3].category == static_cast<std::uint32_t>(torch_category::node));
  CHECK(found.begins[3].payload == payload_kind::none);
}

TEST_CASE("a node has the sequence number of the operator that made it") {
  begin();
  auto const found = run([](thread_log&) {
    std::uint64_t number = 0;
    for (auto i = 0; i < 12; ++i)
      torch().call("aten::relu", operation,
                   static_cast<std::int64_t>(number = torch().next_number()),
                   [] { torch().make_node(); });
    torch().call("ReluBackward0", node, static_cast<std::int64_t>(number), nullptr);
    torch().call("AccumulateGrad", node, -1, nullptr);
  });
  end_torch_operators();
  REQUIRE(found.begins.size() == 14);
  auto const& made = found.begins[11];
  auto const& relu = found.begins[12];
  REQUIRE(made.payload == payload_kind::unsigned64);
  CHECK(relu.payload == payload_kind::unsigned64);
  CHECK(relu.payload_bits == made.payload_bits);
  CHECK(found.begins[10].payload_bits == made.payload_bits - 1);
  CHECK(found.begins[13].payload == payload_kind::none);
}

TEST_CASE("an operator that has begun before the end of recording still ends") {
  begin();
  auto const found = run(
      [](thread_log&) { torch().call("aten::mm", operation, -1, [] { end_torch_operators(); }); });
  CHECK(found.lines == lines{"begin aten::mm", "end aten::mm"});
}

TEST_CASE("an end whose begin was on another thread ends no range") {
  begin();
  auto const found = run([](thread_log& log) {
    auto const unmatched = log.counters.unmatched_pops.load();
    push_range(log, named("outer"));
    torch().call("future", user, -1,
                 [] { pop_range(*this_thread_log(), names().intern(torch_user_domain)); });
    CHECK(log.ranges.size() == 1);
    CHECK(log.counters.unmatched_pops == unmatched);
    pop_range(log, {});
  });
  end_torch_operators();
  CHECK(found.lines == lines{"begin outer", "begin future", "end future", "end outer"});
}
