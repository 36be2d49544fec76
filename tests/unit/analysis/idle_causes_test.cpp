// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/idle_causes.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr std::uint32_t main_thread = 100, other_thread = 101;
constexpr device_id gpu{};
constexpr auto bucket = time_bucket::cpu_work;
constexpr stack_id here{7};

/// Looks at 10, 20, ... of a thread.
thread_sample_record row(std::uint64_t start, std::uint32_t looks, cpu_state state,
                         std::uint32_t thread = main_thread) {
  thread_sample_record made;
  made.start = {start};
  made.duration = {static_cast<std::int64_t>(10 * (looks - 1))};
  made.os_thread = thread;
  made.state = state;
  made.looks = looks;
  made.on_core_ns = state == cpu_state::running ? 10 * looks : 0;
  made.stack = here;
  return made;
}

double looks_of(idle_causes::looks_sum const& seen, idle_cause cause) {
  double sum = 0;
  for (auto const& [key, looks] : seen.by_key)
    if (key.cause == cause && key.bucket == bucket) sum += looks;
  return sum;
}
double looks_of(idle_causes const& causes, idle_cause cause) {
  return looks_of(causes.looks(), cause);
}

}  // namespace

TEST_CASE("looks count for idle time as far as they fall into it") {
  idle_causes causes;
  causes.add(row(10, 5, cpu_state::sleeping));  // 10 to 50
  causes.add(row(60, 3, cpu_state::running));   // 60 to 80
  causes.idle(gpu, bucket, main_thread, {25}, {71});
  CHECK(looks_of(causes, idle_cause::sleeping) == 3);  // 30, 40, 50
  CHECK(looks_of(causes, idle_cause::running) == 2);   // 60, 70
  CHECK(causes.looks().all == 5);
  CHECK(causes.idle_ns() == 46);
}

TEST_CASE("only the thread that launched what came next is asked") {
  idle_causes causes;
  causes.add(row(10, 5, cpu_state::sleeping, other_thread));
  causes.add(row(10, 5, cpu_state::running));
  causes.idle(gpu, bucket, main_thread, {0}, {100});
  CHECK(looks_of(causes, idle_cause::sleeping) == 0);
  CHECK(looks_of(causes, idle_cause::running) == 5);
}

TEST_CASE("child processes are counted beside the thread that launched what came next") {
  idle_causes causes;
  for (std::uint32_t const child : {501u, 502u}) {
    auto one = row(10, 5, cpu_state::running, child);
    one.is_child = true;
    causes.add(one);
  }
  causes.add(row(10, 5, cpu_state::input));
  causes.idle(gpu, bucket, main_thread, {15}, {45});
  CHECK(looks_of(causes, idle_cause::input) == 3);
  CHECK(causes.looks().all == 3);
  CHECK(looks_of(causes.looks_at_children(), idle_cause::running) == 6);
  CHECK(causes.looks_at_children().all == 6);
  CHECK(causes.children() == 2);
  // One that is never on a core is not counted: it only waits for others.
  auto idler = row(10, 5, cpu_state::input, 503);
  idler.is_child = true;
  causes.add(idler);
  causes.idle(gpu, bucket, main_thread, {15}, {45});
  CHECK(looks_of(causes.looks_at_children(), idle_cause::input) == 0);
  CHECK(causes.children() == 2);
  // A launching thread of the same number as a child is another thread.
  causes.idle(gpu, bucket, 501, {15}, {45});
  CHECK(causes.looks().all == 6);
}

TEST_CASE("a thread that wanted a core between two looks counts in part") {
  idle_causes causes;
  auto waits = row(10, 4, cpu_state::running);
  waits.on_core_ns = 10;
  waits.wanted_core_ns = 30;
  causes.add(waits);
  causes.idle(gpu, bucket, main_thread, {0}, {100});
  CHECK(looks_of(causes, idle_cause::no_core) == Approx(3));
  CHECK(looks_of(causes, idle_cause::running) == Approx(1));
}

TEST_CASE("a look inside of a call of CUDA counts for the call") {
  idle_causes causes;
  api_record call;
  call.start = {15};
  call.duration = {20};
  call.os_thread = main_thread;
  call.name = static_cast<name_id>(3);
  causes.add(row(10, 4, cpu_state::lock));  // 10, 20, 30, 40
  causes.add(call);
  causes.idle(gpu, bucket, main_thread, {0}, {100});
  CHECK(looks_of(causes, idle_cause::cuda_call) == 2);
  CHECK(looks_of(causes, idle_cause::lock) == 2);
}

TEST_CASE("idle time of several GPUs asks for the same looks") {
  idle_causes causes;
  causes.add(row(10, 10, cpu_state::running));
  causes.idle(gpu, bucket, main_thread, {0}, {50});
  causes.idle(static_cast<device_id>(1), bucket, main_thread, {0}, {50});
  causes.idle(gpu, bucket, main_thread, {55}, {75});
  CHECK(looks_of(causes, idle_cause::running) == 4 + 4 + 2);
}

TEST_CASE("gaps between work are those in which nothing of the GPU runs") {
  work_gaps gaps;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  auto const add = [&](std::uint64_t start, std::int64_t ns) {
    kernel_record work;
    work.start = {start};
    work.duration = {ns};
    gaps.add(work,
             [&](timestamp_ns from, timestamp_ns to) { found.emplace_back(from.value, to.value); });
  };
  add(100, 50);
  add(110, 10);  // inside of the first
  add(160, 10);
  add(165, 1);
  add(170, 5);
  CHECK(found == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{150, 160}});
}
