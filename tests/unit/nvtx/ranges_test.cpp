// SPDX-License-Identifier: Apache-2.0
// Ranges as the drain thread sees them: nesting, domains, captures that start in the middle, full
// rings.
#include "guest/nvtx/labels.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/range_stack.hpp"
#include "guest/nvtx/ticks.hpp"
#include "support/catch.hpp"
#include "unit/nvtx/seen.hpp"

#include <algorithm>
#include <barrier>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

TEST_CASE("a range within a range has it as parent and lies one level deeper") {
  auto const found = run([](thread_log& log) {
    CHECK(push_range(log, named("step")) == 0);
    CHECK(push_range(log, named("forward")) == 1);
    CHECK(pop_range(log, {}) == 1);
    CHECK(pop_range(log, {}) == 0);
  });
  CHECK(found.lines == lines{"begin step", "begin forward", "end forward", "end step"});
  REQUIRE(found.begins.size() == 2);
  CHECK(found.begins[0].parent == range_id{});
  CHECK(found.begins[1].parent == found.begins[0].range);
  CHECK(found.begins[1].level == 1);
  CHECK(found.begins[0].time <= found.begins[1].time);
  CHECK(found.begins[1].time <= found.ends[0].time);
}

TEST_CASE("pops and levels are separate for each domain") {
  auto const found = run([](thread_log& log) {
    auto const io = names().intern("io");
    CHECK(push_range(log, named("a")) == 0);
    CHECK(push_range(log, named("b", "io")) == 0);
    CHECK(push_range(log, named("c")) == 1);
    CHECK(pop_range(log, io) == 0);
    CHECK(pop_range(log, {}) == 1);
    CHECK(pop_range(log, {}) == 0);
  });
  CHECK(found.lines == lines{"begin a", "begin b", "begin c", "end b", "end c", "end a"});
}

TEST_CASE("one pop too many is counted and changes nothing") {
  auto const found = run([](thread_log& log) {
    auto const before = log.counters.unmatched_pops.load();
    CHECK(pop_range(log, {}) < 0);
    push_range(log, named("a"));
    CHECK(pop_range(log, names().intern("other")) < 0);
    pop_range(log, {});
    CHECK(log.counters.unmatched_pops == before + 2);
  });
  CHECK(found.lines == lines{"begin a", "end a"});
}

TEST_CASE("three hundred levels are recorded, each with its level") {
  auto const found = run([](thread_log& log) {
    auto const used = budget().used();
    for (int i = 0; i < 300; ++i) CHECK(push_range(log, named("level")) == i);
    CHECK(budget().used() > used);
    push_range(log, named("in between", "another"));
    for (int i = 299; i >= 0; --i) CHECK(pop_range(log, {}) == i);
    CHECK(log.ranges.innermost() == log.ranges.at(0).range);
    pop_range(log, names().intern("another"));
    CHECK(log.ranges.size() == 0);
  });
  REQUIRE(found.begins.size() == 301);
  CHECK(found.ends.size() == 301);
  for (std::size_t i = 0; i < 301; ++i) {
    CHECK(found.begins[i].level == i);
    CHECK(found.begins[i].parent == (i == 0 ? range_id{} : found.begins[i - 1].range));
  }
}

TEST_CASE("ranges beyond the stack depth are counted, and their pops still match") {
  run([](thread_log& log) {
    auto const before = log.counters.too_deep_ranges.load();
    constexpr auto depth = static_cast<int>(range_stack::depth);
    for (int i = 0; i < depth + 2; ++i) CHECK(push_range(log, named("deep")) == i);
    for (int i = depth + 1; i >= 0; --i) CHECK(pop_range(log, {}) == i);
    CHECK(log.ranges.size() == 0);
    CHECK(log.counters.too_deep_ranges == before + 2);
    CHECK(pop_range(log, {}) < 0);
  });
}

TEST_CASE("without memory for deeper ranges they are counted, and their pops still match") {
  run([](thread_log& log) {
    auto const rest = budget().limit() - budget().used();
    REQUIRE(budget().reserve(rest));
    auto const before = log.counters.too_deep_ranges.load();
    for (int i = 0; i < 130; ++i) CHECK(push_range(log, named("deep")) == i);
    CHECK(log.ranges.size() == 128);
    budget().release(rest);
    push_range(log, named("deeper"));  // there is memory now, but pops are matched by their number
    CHECK(log.ranges.size() == 128);
    for (int i = 130; i >= 0; --i) CHECK(pop_range(log, {}) == i);
    CHECK(log.ranges.size() == 0);
    CHECK(log.counters.too_deep_ranges == before + 3);
  });
}

TEST_CASE("memory of deep ranges is freed with the thread") {
  run([](thread_log&) {
    log_is_recording = false;
    auto const with_a_range = [] { push_range(*this_thread_log(), named("one")); };
    std::thread(with_a_range).join();
    auto const used = budget().used();
    std::thread([] {
      for (int i = 0; i < 1000; ++i) push_range(*this_thread_log(), named("deep"));
    }).join();
    CHECK(budget().used() == used);
  });
}

TEST_CASE("a reused log without memory has room for deep ranges in its next thread") {
  run([](thread_log&) {
    log_is_recording = false;
    constexpr int threads = 40;  // more than are kept ready for the next
    auto const all_push = [](int levels) {
      std::barrier together(threads);
      std::vector<std::thread> running;
      for (int t = 0; t < threads; ++t)
        running.emplace_back([&] {
          for (int i = 0; i < levels; ++i) push_range(*this_thread_log(), named("deep"));
          together.arrive_and_wait();
        });
      for (auto& one : running) one.join();
    };
    all_push(1);
    release_ended_logs();
    auto const used = budget().used();
    all_push(300);
    release_ended_logs();
    CHECK(budget().used() == used);
  });
}

TEST_CASE("ranges of a destroyed domain end, and are not parents of later ranges") {
  auto const domain = names().intern("to be destroyed");
  auto const found = run([&](thread_log& log) {
    domains().created(domain);
    for (int i = 0; i < 200; ++i) {
      CHECK(push_range(log, {.name = names().intern("left open"), .domain = domain}) == 0);
      domains().destroyed(domain, read_ticks());
      end_ranges_of_gone_domains(log);
      CHECK(log.ranges.size() == 0);
      domains().created(domain);
    }
    push_range(log, named("after"));
    pop_range(log, {});
  });
  CHECK(found.begins.size() == 201);
  CHECK(found.ends.size() == 201);
  CHECK(found.begins.back().parent == range_id{});
  CHECK(found.begins.back().level == 0);
}

TEST_CASE("a domain is gone only after all its creators have destroyed it") {
  auto const domain = names().intern("of two libraries");
  run([&](thread_log& log) {
    event_text const shared{.name = names().intern("range"), .domain = domain};
    domains().created(domain);
    domains().created(domain);
    push_range(log, shared);
    domains().destroyed(domain, read_ticks());
    end_ranges_of_gone_domains(log);
    CHECK(log.ranges.size() == 1);
    domains().destroyed(domain, read_ticks());
    domains().created(domain);
    push_range(log, named("of the default domain"));  // looks by itself, as another thread would
    CHECK(log.ranges.size() == 1);
    push_range(log, shared);
    CHECK(log.ranges.size() == 2);
    auto const before = log.counters.unmatched_pops.load();
    CHECK(pop_range(log, domain) == 0);
    CHECK(pop_range(log, domain) < 0);
    CHECK(log.counters.unmatched_pops == before + 1);
    domains().destroyed(domain, read_ticks());
    CHECK(pop_range(log, domain) < 0);  // the range has ended with its domain
    CHECK(log.counters.unmatched_pops == before + 1);
    pop_range(log, {});
  });
}

TEST_CASE("a recording that starts inside ranges knows them, with their true start") {
  std::uint64_t before = 0, after = 0;
  auto const found = run([&](thread_log& log) {
    log_is_recording = false;
    before = now().value;
    push_range(log, named("epoch"));
    push_range(log, named("step"));
    after = now().value;
    while (now().value < after + 2'000'000) {  // so that a wrong start would show
    }
    log_is_recording = true;
    write_launch(log, now().value, correlation_id{7}, 0);
    pop_range(log, {});
    pop_range(log, {});
  });
  CHECK(found.lines ==
        lines{"begin epoch", "begin step", "launch 7 in step", "end step", "end epoch"});
  auto const tolerance = 500'000u;  // of a line through two points 2 ms apart, on a busy machine
  CHECK(found.begins[0].time.value + tolerance >= before);
  CHECK(found.begins[1].time.value <= after + tolerance);
}

TEST_CASE("ranges closed before the recording leave no trace") {
  auto const found = run([](thread_log& log) {
    log_is_recording = false;
    push_range(log, named("before"));
    pop_range(log, {});
    log_is_recording = true;
    push_range(log, named("after"));
    pop_range(log, {});
  });
  CHECK(found.lines == lines{"begin after", "end after"});
}

TEST_CASE("a range still open when the recording stops gets its end all the same") {
  auto const found = run([](thread_log& log) {
    push_range(log, named("long"));
    log_is_recording = false;
    push_range(log, named("unseen"));
    pop_range(log, {});
    pop_range(log, {});
  });
  CHECK(found.lines == lines{"begin long", "end long"});
}

TEST_CASE("a new generation writes open ranges again, the same one does not") {
  auto const found = run([](thread_log& log) {
    push_range(log, named("outer"));
    log_is_recording = false;
    log_is_recording = true;
    mark(log, named("same file"));
    log_generation.fetch_add(1);
    mark(log, named("new file"));
    pop_range(log, {});
  });
  CHECK(found.lines ==
        lines{"begin outer", "mark same file", "begin outer", "mark new file", "end outer"});
}

TEST_CASE("a full ring drops and counts, and every written begin still gets its end") {
  auto const found = run([](thread_log& log) {
    auto const before = log.counters.dropped_launches.load();
    for (int i = 0; i < 20; ++i) push_range(log, named("open"));
    for (int i = 0; i < 2000; ++i) write_launch(log, 1, correlation_id{1}, 0);
    CHECK(log.counters.dropped_launches > before);
    for (int i = 0; i < 20; ++i) CHECK(pop_range(log, {}) == 19 - i);
  });
  CHECK(found.begins.size() == 20);
  CHECK(found.ends.size() == 20);
  CHECK(found.launches.size() + 20 * 3 == ring_slots);
}

TEST_CASE("a range whose begin was dropped has no end either") {
  auto const found = run([](thread_log& log) {
    auto const before = log.counters.dropped_ranges.load();
    for (int i = 0; i < 2000; ++i) write_launch(log, 1, correlation_id{1}, 0);
    push_range(log, named("lost"));
    pop_range(log, {});
    CHECK(log.counters.dropped_ranges == before + 1);
  });
  CHECK(found.begins.empty());
  CHECK(found.ends.empty());
}

TEST_CASE("declared work, payload, color and category are recorded") {
  auto const found = run([](thread_log& log) {
    auto text = named("gemm", "blas");
    text.flops = 2e12;
    text.bytes = 3e9;
    text.color = 0xff00ff00;
    text.category = 5;
    text.payload = payload_kind::signed64;
    text.payload_bits = 42;
    push_range(log, text);
    pop_range(log, text.domain);
    mark(log, text);
  });
  REQUIRE(found.begins.size() == 1);
  auto const& begin = found.begins[0];
  CHECK(begin.declared_flops == 2e12);
  CHECK(begin.declared_bytes == 3e9);
  CHECK(begin.color == 0xff00ff00);
  CHECK(begin.category == 5);
  CHECK(begin.payload == payload_kind::signed64);
  CHECK(begin.payload_bits == 42);
  CHECK(names().text(begin.domain) == "blas");
  REQUIRE(found.marks.size() == 1);
  CHECK(found.marks[0].payload_bits == 42);
  CHECK(found.marks[0].color == 0xff00ff00);
}

TEST_CASE("a range started here may end on another thread") {
  auto const found = run([](thread_log& log) {
    auto const id = start_range(log, named("async"));
    std::thread([id] { end_range(*this_thread_log(), id); }).join();
  });
  REQUIRE(found.begins.size() == 1);
  REQUIRE(found.ends.size() == 1);
  CHECK(found.begins[0].range == found.ends[0].range);
  CHECK(found.begins[0].thread != found.ends[0].thread);
  CHECK(found.begins[0].style == range_style::start_end);
}

TEST_CASE("ending a range twice, or an unknown range, is counted") {
  auto const found = run([](thread_log& log) {
    auto const before = log.counters.unmatched_pops.load();
    auto const id = start_range(log, named("once"));
    end_range(log, id);
    end_range(log, id);
    end_range(log, range_id{0xdeadbeef});
    CHECK(log.counters.unmatched_pops == before + 2);
  });
  CHECK(found.lines == lines{"begin once", "end once"});
}

TEST_CASE("a range started before the recording and ended on another thread is complete") {
  auto const found = run([](thread_log& log) {
    log_is_recording = false;
    auto const id = start_range(log, named("early"));
    log_is_recording = true;
    std::thread([id] { end_range(*this_thread_log(), id); }).join();
  });
  CHECK(found.lines == lines{"begin early", "end early"});
  CHECK(found.begins.at(0).thread != found.ends.at(0).thread);
}

TEST_CASE("start/end ranges open when the recording starts are claimed once") {
  std::vector<range_begin> first, second;
  auto const found = run([&](thread_log& log) {
    log_is_recording = false;
    auto const id = start_range(log, named("early"));
    log_is_recording = true;
    first = claim_started_ranges();
    second = claim_started_ranges();
    end_range(log, id);
  });
  REQUIRE(first.size() == 1);
  CHECK(names().text(first[0].name) == "early");
  CHECK(first[0].time <= found.ends.at(0).time);
  CHECK(second.empty());
  CHECK(found.begins.empty());
  CHECK(found.ends.size() == 1);
}

namespace {

struct trigger final : range_observer {
  name_id wanted{};
  int pushes = 0, pops = 0;
  void on_push(name_id name, name_id) noexcept override {
    if (name != wanted) return;
    ++pushes;
    log_is_recording = true;
  }
  void on_pop(name_id name, name_id) noexcept override {
    if (name != wanted) return;
    ++pops;
    log_is_recording = false;
  }
  void on_start(name_id name, name_id domain) noexcept override { on_push(name, domain); }
  void on_end(name_id name, name_id domain) noexcept override { on_pop(name, domain); }
};

}  // namespace

TEST_CASE("an observer that records one range gets exactly that range") {
  static trigger watching;
  watching.wanted = names().intern("step");
  auto const found = run([](thread_log& log) {
    log_is_recording = false;
    the_range_observer = &watching;
    for (auto const* name : {"setup", "step", "after"}) {
      push_range(log, named(name));
      push_range(log, named("inner"));
      pop_range(log, {});
      pop_range(log, {});
    }
    end_range(log, start_range(log, named("step")));
    the_range_observer = nullptr;
  });
  CHECK(watching.pushes == 2);
  CHECK(watching.pops == 2);
  CHECK(found.lines ==
        lines{"begin step", "begin inner", "end inner", "end step", "begin step", "end step"});
}

TEST_CASE("an observer gets as many pops as pushes, even for ranges beyond the depth") {
  static trigger watching;
  watching.wanted = names().intern("too deep to keep");
  run([](thread_log& log) {
    the_range_observer = &watching;
    log_is_recording = false;
    for (std::size_t i = 0; i < range_stack::depth; ++i) push_range(log, named("filling"));
    push_range(log, named("too deep to keep"));
    CHECK(watching.pushes == 0);  // nothing would tell it from the pop of another
    pop_range(log, {});
    pop_range(log, {});
    push_range(log, named("too deep to keep"));
    CHECK(watching.pushes == 1);
    pop_range(log, {});
    CHECK(watching.pops == 1);
    the_range_observer = nullptr;
  });
}

TEST_CASE("ranges left open by a thread end with it, innermost first") {
  static trigger watching;
  watching.wanted = names().intern("abandoned");
  auto const found = run([](thread_log& log) {
    the_range_observer = &watching;
    log_is_recording = false;
    std::thread([] {
      push_range(*this_thread_log(), named("before"));
      push_range(*this_thread_log(), named("abandoned"));
      push_range(*this_thread_log(), named("inner", "of another domain"));
    }).join();
    CHECK(watching.pushes == 1);
    CHECK(watching.pops == 1);
    CHECK_FALSE(log_is_recording);
    std::thread([] {
      log_is_recording = true;
      push_range(*this_thread_log(), named("whole"));
      for (int i = 0; i < 200; ++i) push_range(*this_thread_log(), named("deep"));
    }).join();
    the_range_observer = nullptr;
    push_range(log, named("after"));
    pop_range(log, {});
  });
  CHECK(found.begins.size() == found.ends.size());
  CHECK(std::count(found.lines.begin(), found.lines.end(), "end abandoned") == 1);
  CHECK(std::count(found.lines.begin(), found.lines.end(), "end whole") == 1);
  CHECK(std::count(found.lines.begin(), found.lines.end(), "end deep") == 200);
}

TEST_CASE("an observer is not told of a started range whose end would not be recognized") {
  static trigger watching;
  watching.wanted = names().intern("one more");
  run([](thread_log& log) {
    log_is_recording = false;
    // Ids count up and go round the buckets: this many fill all of them.
    std::vector<range_id> open;
    while (forgotten_ranges() == 0) open.push_back(start_range(log, named("filling")));
    auto const none_left = forgotten_ranges() + started_ranges::buckets;
    while (forgotten_ranges() < none_left) open.push_back(start_range(log, named("filling")));
    the_range_observer = &watching;
    auto const unheard = start_range(log, named("one more"));
    CHECK(watching.pushes == 0);
    end_range(log, unheard);
    CHECK(watching.pops == 0);
    for (auto const id : open) end_range(log, id);
    end_range(log, start_range(log, named("one more")));
    CHECK(watching.pushes == 1);
    CHECK(watching.pops == 1);
    the_range_observer = nullptr;
  });
}
