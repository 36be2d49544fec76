// SPDX-License-Identifier: Apache-2.0
// Which launches are alike, and what a callback tells of a launch.
#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include "guest/counters/launches/signatures/signature_lookup.hpp"
#include "guest/cupti/call_parameters.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

launch_parameters launch_of(std::uintptr_t function, unsigned grid = 1, unsigned block = 32,
                            unsigned shared = 0) {
  launch_parameters launch;
  launch.work = reinterpret_cast<void const*>(function);
  launch.grid = {grid, 1, 1};
  launch.block = {block, 1, 1};
  launch.shared_bytes = shared;
  return launch;
}

/// The table asks for the arguments only where they matter.
struct counting_signatures : launch_signatures {
  launch_signature* find(launch_parameters const& launch, std::uint32_t context = 0,
                         std::uint32_t arguments = 0) {
    return launch_signatures::find(launch, context, [&] {
      ++times_asked;
      return arguments;
    });
  }
  int times_asked = 0;
};

/// Its launches run 10 and 20 us in turn.
void let_times_vary(launch_signature& signature) {
  for (int i = 0; i < 40; ++i) signature.add_time(i % 2 == 0 ? 10'000 : 20'000, false);
}
launch_signature& varying(counting_signatures& signatures, launch_parameters const& launch,
                          std::uint32_t context = 0) {
  auto& signature = *signatures.find(launch, context);
  let_times_vary(signature);
  return signature;
}

}  // namespace

TEST_CASE("function, grid, block and shared memory make the signature, the stream does not") {
  counting_signatures signatures;
  auto* const one = signatures.find(launch_of(64));
  REQUIRE(one != nullptr);
  auto same = launch_of(64);
  same.stream = CU_STREAM_PER_THREAD;
  CHECK(signatures.find(same) == one);
  std::set<launch_signature*> told_apart{one};
  for (auto const& other :
       {launch_of(65), launch_of(64, 2), launch_of(64, 1, 64), launch_of(64, 1, 32, 4)})
    told_apart.insert(signatures.find(other));
  auto turned = launch_of(64);
  turned.grid = {1, 2, 1};
  told_apart.insert(signatures.find(turned));
  CHECK(told_apart.size() == 6);
  CHECK(told_apart.count(nullptr) == 0);
}

TEST_CASE("argument values distinguish launches only after their times vary") {
  counting_signatures signatures;
  auto* const any = signatures.find(launch_of(64), 0, 7);
  CHECK(signatures.find(launch_of(64), 0, 8) == any);
  CHECK(signatures.times_asked == 0);
  CHECK_FALSE(any->varies());
  let_times_vary(*any);
  REQUIRE(any->varies());
  auto* const one = signatures.find(launch_of(64), 0, 7);
  auto* const other = signatures.find(launch_of(64), 0, 8);
  CHECK(std::set<launch_signature*>{any, one, other}.size() == 3);
  CHECK(signatures.find(launch_of(64), 0, 7) == one);
  CHECK(signatures.find(launch_of(64), 0, 0) == any);  // not known
  CHECK(any->arguments() == 0);
  CHECK(one->arguments() == 7);
  CHECK(other->arguments() == 8);
  // Of others, or of the same in another context, nothing is known.
  CHECK(signatures.find(launch_of(64), 1, 7)->arguments() == 0);
  CHECK(signatures.find(launch_of(64, 2), 0, 7)->arguments() == 0);
}

TEST_CASE("times vary if they differ by more than chance, and there are enough of them") {
  counting_signatures signatures;
  auto& steady = *signatures.find(launch_of(1));
  for (int i = 0; i < 1000; ++i) steady.add_time(i % 2 == 0 ? 10'000 : 12'000, false);
  CHECK_FALSE(steady.varies());
  auto& few = *signatures.find(launch_of(2));
  for (int i = 0; i < 18; ++i) few.add_time(i % 2 == 0 ? 10'000 : 20'000, false);
  CHECK_FALSE(few.varies());
  few.add_time(10'000, false);
  CHECK(few.varies());
}

TEST_CASE("the first launches of a signature are slower, and are not compared") {
  counting_signatures signatures;
  auto& signature = *signatures.find(launch_of(1));
  for (int i = 0; i < 3; ++i) signature.add_time(900'000, false);
  for (int i = 0; i < 100; ++i) signature.add_time(10'000, false);
  CHECK_FALSE(signature.varies());
  CHECK(signature.gpu_ns() == 3 * 900'000 + 100 * 10'000);
}

TEST_CASE("times below five microseconds vary by chance, and are ignored") {
  counting_signatures signatures;
  auto& signature = *signatures.find(launch_of(1));
  for (int i = 0; i < 1000; ++i) signature.add_time(i % 2 == 0 ? 1'000 : 8'000, false);
  CHECK_FALSE(signature.varies());
}

TEST_CASE("kernels of a graph are not used to compare times of launches") {
  counting_signatures signatures;
  auto& signature = *signatures.find(launch_of(1));
  for (int i = 0; i < 100; ++i) signature.add_time(i % 2 == 0 ? 10'000 : 50'000, true);
  CHECK_FALSE(signature.varies());
  CHECK(signature.gpu_ns() == 100 * 30'000);
}

TEST_CASE("a kernel whose arguments never come again is one signature, after some launches") {
  counting_signatures signatures;
  varying(signatures, launch_of(64));
  std::set<launch_signature*> told_apart;
  for (std::uint32_t i = 0; i < 1000; ++i)
    told_apart.insert(signatures.find(launch_of(64), 0, 100 + i));
  CHECK(told_apart.size() == launch_signatures::max_values + 1);
  auto* const others = signatures.find(launch_of(64), 0, 5000);
  CHECK(others->arguments() == 1);
  // Also what had been told apart before, or a kernel would be read by halves.
  CHECK(signatures.find(launch_of(64), 0, 100) == others);
  // Of another function nothing is known.
  varying(signatures, launch_of(65));
  CHECK(signatures.find(launch_of(65), 0, 100)->arguments() == 100);
}

TEST_CASE("many recurring values stay distinct, up to a limit") {
  counting_signatures signatures;
  varying(signatures, launch_of(64));
  std::set<launch_signature*> told_apart;
  // Steps of a program: all come once before the first comes again.
  for (int steps = 0; steps < 5; ++steps)
    for (std::uint32_t i = 0; i < launch_signatures::max_values; ++i)
      told_apart.insert(signatures.find(launch_of(64), 0, 100 + i));
  CHECK(told_apart.size() == launch_signatures::max_values);
  for (std::uint32_t i = 0; i < 100; ++i)
    told_apart.insert(signatures.find(launch_of(64), 0, 200 + i));
  CHECK(told_apart.size() == launch_signatures::max_values + 1);
  CHECK(signatures.find(launch_of(64), 0, 200)->arguments() == 1);
  CHECK(signatures.find(launch_of(64), 0, 100)->arguments() == 100);
}

TEST_CASE("signatures that differ in their arguments leave room for others") {
  counting_signatures signatures;
  for (std::uintptr_t function = 64; function < 64 + 1000; ++function) {
    varying(signatures, launch_of(function));
    for (std::uint32_t i = 0; i < 20; ++i) (void)signatures.find(launch_of(function), 0, 100 + i);
  }
  varying(signatures, launch_of(9999));
  auto* const late = signatures.find(launch_of(9999), 0, 100);
  REQUIRE(late != nullptr);
  CHECK(late->arguments() == 1);
}

TEST_CASE("each group of metrics is done once, until all begins again") {
  counting_signatures signatures;
  auto& signature = *signatures.find(launch_of(64));
  CHECK(signature.done() == 0);
  signature.mark_done(0);
  signature.mark_done(3);
  CHECK(signature.done() == 0b1001);
  signature.begin_again();
  CHECK(signature.done() == 0);
  CHECK(signature.ever_done() == 0b1001);
}

TEST_CASE("the launch whose record stands for others is from the current capture") {
  counting_signatures signatures;
  auto& signature = *signatures.find(launch_of(64));
  CHECK(signature.pattern(1) == correlation_id{});
  signature.note_pattern(1, correlation_id{77});
  CHECK(signature.pattern(1) == correlation_id{77});
  CHECK(signature.pattern(2) == correlation_id{});
}

TEST_CASE("all signatures can be gone through in the order in which they came") {
  counting_signatures signatures;
  auto* const first = signatures.find(launch_of(70));
  auto* const second = signatures.find(launch_of(64));
  (void)signatures.find(launch_of(70));
  REQUIRE(signatures.size() == 2);
  CHECK(signatures.at(0) == first);
  CHECK(signatures.at(1) == second);
}

TEST_CASE("a full table finds its signatures and accepts no new ones") {
  counting_signatures signatures;
  std::size_t taken = 0;
  for (std::uintptr_t f = 1; f <= launch_signatures::capacity; ++f)
    taken += signatures.find(launch_of(f)) != nullptr;
  CHECK(taken == launch_signatures::capacity / 4 * 3);
  CHECK(signatures.find(launch_of(1)) != nullptr);
  CHECK(signatures.find(launch_of(launch_signatures::capacity + 1)) == nullptr);
}

TEST_CASE("signatures not launched for a minute make room, and the data of others stays") {
  counting_signatures signatures;
  constexpr std::uint64_t minute = launch_signatures::unused_after_ns, second = minute / 60;
  constexpr std::uintptr_t many = launch_signatures::capacity / 4 * 3;
  std::uint64_t now_ns = 1000 * second;
  std::uintptr_t next = 1;
  for (; next <= many; ++next)
    signatures.find(launch_of(next))->decide(launch_signature::standing::allowed);
  REQUIRE(signatures.is_full());
  auto& kept = *signatures.find(launch_of(7));
  kept.mark_done(1);
  kept.add_time(5000, false);
  CHECK_FALSE(signatures.age(now_ns, true, 0b11));  // any may still be in use
  kept.count_launch();
  now_ns += minute + second;
  CHECK_FALSE(signatures.age(now_ns, false, 0b11));
  now_ns += second;
  CHECK(signatures.age(now_ns, true, 0b11));
  CHECK(signatures.size() == 1);
  CHECK_FALSE(signatures.has(kept));
  auto& again = *signatures.find(launch_of(7));
  CHECK(signatures.has(again));
  CHECK(again.done() == 0b10);
  CHECK(again.is() == launch_signature::standing::allowed);
  CHECK(again.launches() == kept.launches());
  CHECK(again.mean_ns() == 5000);
  CHECK(signatures.count(0b11).signatures == many);
  CHECK(signatures.count(0b11).unread == many - 1);

  // And so on for ever, a minute apart at least.
  for (int times = 0; times < 3; ++times) {
    auto found = 0u;
    for (auto const end = next + many; next < end; ++next)
      found += signatures.find(launch_of(next)) != nullptr ? 1u : 0u;
    CHECK(found >= many - 2);
    (void)signatures.age(now_ns += second, true, 0b11);
    CHECK(signatures.is_full());
    CHECK(signatures.age(now_ns += minute + second, true, 0b11));
    CHECK(signatures.size() == 0);
  }
}

TEST_CASE("signatures that are all in use are kept") {
  counting_signatures signatures;
  constexpr std::uint64_t second = launch_signatures::unused_after_ns / 60;
  constexpr std::uintptr_t many = launch_signatures::capacity / 2;
  std::uint64_t now_ns = 1000 * second;
  for (int times = 0; times < 200; ++times) {
    for (std::uintptr_t f = 1; f <= many; ++f) signatures.find(launch_of(f))->count_launch();
    CHECK_FALSE(signatures.age(now_ns += second, true, 0b1));
  }
  CHECK(signatures.size() == many);
}

TEST_CASE("signatures are counted by how much of them was read, also while they are read again") {
  counting_signatures signatures;
  auto const make = [&](std::uintptr_t f) -> launch_signature& {
    auto& signature = *signatures.find(launch_of(f));
    signature.decide(launch_signature::standing::allowed);
    return signature;
  };
  make(1);
  make(2).mark_done(0);
  auto& whole = make(3);
  whole.mark_done(0);
  whole.mark_done(1);
  whole.begin_again();
  make(4).decide(launch_signature::standing::never);
  auto const counted = signatures.count(0b11);
  CHECK(counted.signatures == 3);
  CHECK(counted.unread == 1);
  CHECK(counted.partly == 1);
  CHECK(signatures.count(0).unread == 0);
}

TEST_CASE("groups left to samples on purpose do not count as unread") {
  counting_signatures signatures;
  auto const make = [&](std::uintptr_t f) -> launch_signature& {
    auto& signature = *signatures.find(launch_of(f));
    signature.decide(launch_signature::standing::allowed);
    return signature;
  };
  make(1).give_up(0b11);
  auto& half = make(2);
  half.mark_done(0);
  half.give_up(0b10);
  make(3).give_up(0b01);  // the other one may still be read
  auto const counted = signatures.count(0b11);
  CHECK(counted.signatures == 3);
  CHECK(counted.left_out == 2);
  CHECK(counted.unread == 1);
  CHECK(counted.partly == 0);
}

TEST_CASE("threads that find a new signature at the same time get the same one") {
  counting_signatures signatures;
  std::vector<std::vector<launch_signature*>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : found)
      threads.emplace_back([&] {
        for (std::uintptr_t f = 1; f <= 2000; ++f) mine.push_back(signatures.find(launch_of(f)));
      });
  }
  for (auto const& mine : found) CHECK(mine == found.front());
  CHECK(std::set<launch_signature*>(found[0].begin(), found[0].end()).size() == 2000);
}

TEST_CASE("calls that launch kernels are recognized by name") {
  CHECK(launch_call_named("cuLaunchKernel").call == launch_call::kernel);
  CHECK(launch_call_named("cuLaunchKernelEx").call == launch_call::kernel_ex);
  CHECK_FALSE(launch_call_named("cuLaunchKernel").default_stream_per_thread);
  CHECK(launch_call_named("cuLaunchKernel_ptsz").call == launch_call::kernel);
  CHECK(launch_call_named("cuLaunchKernel_ptsz").default_stream_per_thread);
  CHECK(launch_call_named("cuLaunchCooperativeKernel_ptsz").call == launch_call::cooperative);
  for (auto const* const name :
       {"cuLaunchCooperativeKernelMultiDevice", "cuLaunchGrid", "cuLaunchGridAsync"})
    CHECK(launch_call_named(name).call == launch_call::not_readable);
  CHECK(launch_call_named("cuGraphLaunch_ptsz").call == launch_call::graph);
  for (auto const* const name : {"cuLaunchHostFunc", "cuGraphExecUpdate", "cuMemcpyAsync", ""})
    CHECK(launch_call_named(name).call == launch_call::none);
  CHECK(launch_call_named(nullptr).call == launch_call::none);
}

TEST_CASE("the parameters of all calls are read, with the attribute of cooperative launches") {
  CUpti_CallbackData call{};
  launch_parameters read;
  CHECK_FALSE(read_launch_parameters(launch_call_named("cuLaunchKernel"), call, read));

  cuLaunchKernel_params plain{};
  plain.f = reinterpret_cast<CUfunction>(std::uintptr_t{64});
  plain.gridDimX = 7;
  plain.blockDimY = 3;
  plain.sharedMemBytes = 100;
  call.functionParams = &plain;
  REQUIRE(read_launch_parameters(launch_call_named("cuLaunchKernel"), call, read));
  CHECK(read.work == plain.f);
  CHECK(read.grid[0] == 7);
  CHECK(read.block[1] == 3);
  CHECK(read.shared_bytes == 100);
  CHECK(read.stream == nullptr);
  REQUIRE(read_launch_parameters(launch_call_named("cuLaunchKernel_ptsz"), call, read));
  CHECK(read.stream == CU_STREAM_PER_THREAD);

  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimZ = 5;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cuLaunchKernelEx_params extended{};
  extended.config = &config;
  call.functionParams = &extended;
  REQUIRE(read_launch_parameters(launch_call_named("cuLaunchKernelEx"), call, read));
  CHECK(read.grid[2] == 5);
  CHECK(read.cooperative);
  attribute.value.cooperative = 0;
  REQUIRE(read_launch_parameters(launch_call_named("cuLaunchKernelEx"), call, read));
  CHECK_FALSE(read.cooperative);
  CHECK_FALSE(read_launch_parameters(launch_call_named("cuLaunchGrid"), call, read));

  // Its stream has to be known: others are idle or not without it.
  cuLaunchCooperativeKernel_params cooperative{};
  cooperative.gridDimY = 9;
  cooperative.hStream = reinterpret_cast<CUstream>(std::uintptr_t{192});
  call.functionParams = &cooperative;
  REQUIRE(read_launch_parameters(launch_call_named("cuLaunchCooperativeKernel"), call, read));
  CHECK(read.grid[1] == 9);
  CHECK(read.stream == cooperative.hStream);
  CHECK(read.cooperative);
}

TEST_CASE("one thread decides whether launches of a signature may be read") {
  launch_signature signature;
  std::atomic<int> deciding{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        if (signature.begin_deciding()) deciding.fetch_add(1);
      });
  }
  CHECK(deciding == 1);
  CHECK(signature.is() == launch_signature::standing::deciding);
  signature.decide(launch_signature::standing::allowed);
  CHECK_FALSE(signature.begin_deciding());
}

TEST_CASE(
    "kernels of different names that had the same handle, one after the other, are two "
    "signatures") {
  counting_signatures signatures;
  auto launch = launch_of(64);
  launch.name = 1;
  auto* const first = signatures.find(launch);
  launch.name = 2;
  auto* const second = signatures.find(launch);
  CHECK(second != first);
  launch.name = 1;
  CHECK(signatures.find(launch) == first);
}

TEST_CASE("a name is hashed once for each handle, and again after code was unloaded") {
  function_names names;
  auto const* const function = reinterpret_cast<void const*>(std::uintptr_t{4096});
  auto const* const other = reinterpret_cast<void const*>(std::uintptr_t{8192});
  auto const one = names.hash_of(function, "one");
  CHECK(names.hash_of(function, "not looked at") == one);
  CHECK(names.hash_of(other, "one") == one);
  CHECK(names.hash_of(other, nullptr) == 0);
  names.forget();
  CHECK(names.hash_of(function, "two") != one);
  names.forget();
  CHECK(names.hash_of(function, "one") == one);
}

TEST_CASE("a new graph with the handle of a destroyed one starts without data") {
  counting_signatures signatures;
  launch_parameters graph;
  graph.work = reinterpret_cast<void const*>(std::uintptr_t{64});
  auto& signature = *signatures.find(graph, 0);
  auto& kernel = *signatures.find(launch_of(64), 0);
  for (auto* const known : {&signature, &kernel}) {
    known->mark_done(0);
    known->begin_again();
    known->mark_done(1);
    known->give_up(4);
    known->want(true);
  }
  signatures.forget_graph(graph.work);
  CHECK(signatures.find(graph, 0) == &signature);
  CHECK(signature.ever_done() == 0);
  CHECK(signature.hopeless() == 0);
  CHECK_FALSE(signature.is_wanted());
  CHECK(kernel.ever_done() == 3);
  signatures.forget_graph(launch_of(128).work);  // never launched
  CHECK(signatures.size() == 2);
}

TEST_CASE("a graph launch is identified by its graph") {
  CUpti_CallbackData call{};
  cuGraphLaunch_params graph{};
  graph.hGraph = reinterpret_cast<CUgraphExec>(std::uintptr_t{128});
  call.functionParams = &graph;
  launch_parameters read;
  REQUIRE(read_launch_parameters(launch_call_named("cuGraphLaunch_ptsz"), call, read));
  CHECK(read.work == graph.hGraph);
  CHECK(read.stream == CU_STREAM_PER_THREAD);
  CHECK(read.grid[0] == 0);
}
