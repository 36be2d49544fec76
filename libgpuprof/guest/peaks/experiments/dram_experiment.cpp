// SPDX-License-Identifier: Apache-2.0
// The tests of DRAM: read, write, copy and triad over gigabytes.
#include "guest/peaks/checks/memory_check.hpp"
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/throughput.hpp"
#include "guest/peaks/experiments/workbench.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

namespace gpuprof::guest::peaks {
namespace {

/// The driver's own copy within the device, from the first half of the arena to the second. The
/// arena must exist. Throws cuda_failure.
class driver_copy {
 public:
  explicit driver_copy(lab& in) : in_(in) {}

  /// Returns bytes read plus bytes written, per second.
  peak_figure best() const;
  peak_figure sustain(double seconds) const;

 private:
  double bytes() const {
    auto const half = in_.arena.bytes() / 2;
    return static_cast<double>(half * 2);
  }
  void enqueue(unsigned copies) const;
  /// Waits for the earlier work in the stream first.
  double seconds_of(unsigned copies) const;

  lab& in_;
};

peak_figure driver_copy::best() const {
  peak_figure figure;
  std::vector<double> rates;
  seconds_of(1);
  for (unsigned i = 0; i < in_.samples(); ++i) {
    rates.push_back(bytes() / seconds_of(1));
    if (rates.back() <= figure.value) continue;
    figure.value = rates.back();
    figure.chip = in_.read_chip();
  }
  figure.samples = in_.samples();
  figure.spread = spread_of(rates);
  return figure;
}

peak_figure driver_copy::sustain(double seconds) const {
  auto const copies = std::max(6u, static_cast<unsigned>(seconds / seconds_of(1)));
  peak_figure figure;
  enqueue(copies - copies / 3);
  figure.samples = copies / 3;
  figure.value = bytes() * figure.samples / seconds_of(figure.samples);
  figure.chip = in_.read_chip();
  return figure;
}

void driver_copy::enqueue(unsigned copies) const {
  auto const half = in_.arena.bytes() / 2;
  auto const from = in_.arena.device();
  for (unsigned i = 0; i < copies; ++i) {
    in_.bench.expect(
        in_.bench.cuda().cuMemcpyDtoDAsync_v2(from + half, from, half, in_.bench.stream()),
        "cuMemcpyDtoDAsync");
  }
}

double driver_copy::seconds_of(unsigned copies) const {
  event begin(in_.bench), end(in_.bench);
  begin.record(in_.bench.stream());
  enqueue(copies);
  end.record(in_.bench.stream());
  in_.bench.wait();
  return end.seconds_since(begin);
}

constexpr std::uint64_t wanted_bytes = 4096 * mib;
constexpr std::uint64_t chunk_bytes = 32u << 10;  // for one block
constexpr std::uint64_t timed = 1024;  // number of first and of last blocks that record their times
constexpr std::uint64_t stretch = 3 * chunk_bytes * 32;  // so that arenas divide by 2 and 3

/// The parts of equal size in which a test reads and writes the arena.
struct traffic {
  unsigned parts;  // all parts are read or written once
  bool writes;     // writes the last part
  unsigned threads;
  char const* method;
};

traffic traffic_of(test_id test) {
  switch (test) {
    case test_id::dram_read:
      return {1, false, 512, "ld.global.nc.v4"};
    case test_id::dram_write:
      return {1, true, 512, "st.global.v4"};
    case test_id::dram_copy:
      return {2, true, 1024, "ld.global.nc.v4, st.global.cs.v4"};
    default:
      return {3, true, 1024, "ld.global.nc.v4, st.global.cs.v4"};
  }
}

/// Returns the wanted size, or 40 % of the free memory: the program may need memory too.
std::uint64_t arena_bytes(lab& in) {
  auto const free = in.bench.free_bytes();
  auto const l2 = static_cast<std::uint64_t>(in.bench.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  auto const bytes = std::min(wanted_bytes, free * 2 / 5) / stretch * stretch;
  if (bytes < std::max(8 * l2, 64 * mib)) {
    throw no_figure(peak_outcome::failed,
                    "too little free memory: " + std::to_string(free / mib) + " MiB, and " +
                        std::to_string(std::max(8 * l2, 64 * mib) * 5 / 2 / mib) +
                        " are needed so that the L2 does not stand in for DRAM");
  }
  return bytes;
}

class dram_experiment final : public experiment {
 public:
  dram_experiment(lab& in, test_id test, CUfunction function)
      : in_(in), test_(test), traffic_(traffic_of(test)) {
    launch_.function = function;
    launch_.threads = traffic_.threads;
  }

  void measure(peak_result& into) override {
    prepare();
    into.operands = in_.options.zeros ? "zeros" : "random";
    into.method = traffic_.method;
    into.buffer_bytes = in_.arena.bytes();
    if (in_.arena.bytes() < wanted_bytes / stretch * stretch) {
      into.remark = "L2-biased: " + std::to_string(in_.arena.bytes() / mib) +
                    " MiB instead of 4096 were free enough to take";
    }
    run_seconds();  // brings the L2 into the state that later runs find
    check();
    std::vector<double> rates;
    for (unsigned i = 0; i < in_.samples(); ++i) {
      auto const rate = bytes() / run_seconds();
      if (rate > into.burst.value) {
        into.burst.value = rate;
        into.burst.chip = in_.read_chip();
      }
      rates.push_back(rate);
    }
    into.burst.samples = in_.samples();
    into.burst.spread = spread_of(rates);
    if (auto const mhz = into.burst.chip.memory_clock_mhz; mhz != 0) {
      into.per_clock = into.burst;
      into.per_clock.value = into.burst.value / (mhz * 1e6);
    }
    seconds_ = bytes() / into.burst.value;
  }

  bool can_be_sustained() const noexcept override { return seconds_ != 0; }
  peak_figure sustain(double seconds) override {
    prepare();
    auto const launches = std::max(6u, static_cast<unsigned>(std::ceil(seconds / seconds_)));
    auto const first = launches * 2 / 3, last = launches - 1;
    for (unsigned i = 0; i < launches; ++i) launch(i == first ? 1 : i == last ? 2 : 0);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds * 0.8));
    peak_figure figure;
    figure.chip = in_.read_chip();
    in_.bench.wait();
    auto const taken = seconds_between(edge(1, 0), edge(2, 1));
    if (taken == 0) throw no_figure(peak_outcome::failed, "its blocks left no times");
    figure.samples = last - first + 1;
    figure.value = bytes() * figure.samples / taken;
    return figure;
  }

  /// Overwrites the copied part, so that a later copy is not checked against old data.
  void forget_what_was_written() const {
    auto const part = in_.arena.bytes() / traffic_.parts;
    in_.bench.expect(
        in_.bench.cuda().cuMemsetD8Async(in_.arena.device() + (traffic_.parts - 1) * part, 0, part,
                                         in_.bench.stream()),
        "cuMemsetD8Async");
  }
  void check_copy() const { check(); }

 private:
  double bytes() const {
    return static_cast<double>(launch_.blocks) * chunk_bytes * traffic_.parts;
  }
  std::uint64_t edge_blocks() const { return std::min<std::uint64_t>(timed, launch_.blocks); }

  /// Makes the arena and fills it with random floats: the previous test may have overwritten them.
  void prepare() {
    if (in_.arena.bytes() == 0) in_.arena = in_.bench.allocate(arena_bytes(in_));
    auto* const base = static_cast<std::byte*>(in_.arena.on_gpu());
    auto const part = in_.arena.bytes() / traffic_.parts;
    auto& a = launch_.arguments;
    a.seed = operand_seed;
    a.zeros = in_.options.zeros ? 1 : 0;
    a.bytes = in_.arena.bytes();
    a.input = base;
    a.output = base + (traffic_.parts - 1) * part;
    launch_.blocks = static_cast<unsigned>(part / chunk_bytes);
    a.iterations = edge_blocks();
    auto fill = launch_;
    fill.function = in_.bench.find_kernel("memory", "memory_fill");
    fill.threads = 512;
    fill.blocks = static_cast<unsigned>(in_.arena.bytes() / chunk_bytes);
    fill.arguments.output = base;
    in_.bench.launch(fill);
    in_.bench.wait();
  }

  void launch(unsigned slot) {
    auto what = launch_;
    what.arguments.spans =
        static_cast<block_span*>(in_.spans.on_gpu()) + std::uint64_t{slot} * 2 * timed;
    in_.bench.launch(what);
  }

  /// Returns the spans of the first blocks (side 0) or of the last (side 1).
  std::vector<block_span> edge(unsigned slot, unsigned side) const {
    return in_.bench.copied<block_span>(
        in_.spans, edge_blocks(),
        std::uint64_t{slot} * 2 * timed + std::uint64_t{side} * edge_blocks());
  }

  double run_seconds() {
    launch(0);
    in_.bench.wait();
    auto const seconds = seconds_between(edge(0, 0), edge(0, 1));
    if (seconds == 0) throw no_figure(peak_outcome::failed, "its blocks left no times");
    return seconds;
  }

  // Results --------------------------------------------------------------

  void check() const {
    if (in_.options.zeros) return;
    traffic_.writes ? check_written() : check_read();
  }

  /// Checks only eight MiB, because the host must add up the same words.
  void check_read() const {
    auto const sum = in_.bench.allocate(sizeof(std::uint32_t));
    in_.bench.expect(
        in_.bench.cuda().cuMemsetD8Async(sum.device(), 0, sum.bytes(), in_.bench.stream()),
        "cuMemsetD8Async");
    auto what = launch_;
    what.blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(8 * mib / chunk_bytes, what.blocks));
    what.arguments.spans = static_cast<block_span*>(in_.spans.on_gpu());
    what.arguments.iterations = 0;
    what.arguments.output = sum.on_gpu();
    what.arguments.check = 1;
    in_.bench.launch(what);
    in_.bench.wait();
    if (in_.bench.copied<std::uint32_t>(sum, 1).front() !=
        filled_sum(operand_seed, what.blocks * chunk_bytes / 4))
      throw no_figure(peak_outcome::failed, "its result is wrong: it did not read what is there");
  }

  /// Checks some pages, including the first and the last.
  void check_written() const {
    constexpr std::uint64_t page = 4096, pages = 64;
    auto const part = in_.arena.bytes() / traffic_.parts;
    for (std::uint64_t i = 0; i < pages; ++i) {
      auto const at = (part - page) / page * i / (pages - 1) * page;
      std::array<std::uint32_t, page / 4> words{};
      in_.bench.copy_to_host(words.data(), in_.arena.device() + (traffic_.parts - 1) * part + at,
                             page);
      for (std::uint64_t w = 0; w < words.size(); ++w) {
        if (words[w] != wanted_word(at / 4 + w, part / 4))
          throw no_figure(peak_outcome::failed, "its result is wrong: it did not write everything");
      }
    }
  }

  std::uint32_t wanted_word(std::uint64_t place, std::uint64_t part_words) const {
    if (test_ == test_id::dram_write) return written_word(operand_seed, place);
    auto const b = filled_word(operand_seed, place);
    if (test_ == test_id::dram_copy) return b;
    auto const c = filled_word(operand_seed, part_words + place);
    float x = 0, y = 0;
    std::memcpy(&x, &b, sizeof x);
    std::memcpy(&y, &c, sizeof y);
    auto const sum = std::fma(3.0f, y, x);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &sum, sizeof bits);
    return bits;
  }

  lab& in_;
  test_id test_;
  traffic traffic_;
  kernel_launch launch_;
  double seconds_ = 0;  // duration of one run
};

/// The better of our kernel and the driver's copy.
class better_copy final : public experiment {
 public:
  better_copy(std::unique_ptr<dram_experiment> kernel, lab& in)
      : kernel_(std::move(kernel)), driver_(in) {}

  void measure(peak_result& into) override {
    kernel_->measure(into);
    kernel_->forget_what_was_written();
    auto const figure = driver_.best();
    kernel_->check_copy();
    driver_is_better_ = figure.value > into.burst.value;
    if (!driver_is_better_) return;
    into.method = "cuMemcpyDtoDAsync";
    into.burst = figure;
    if (into.per_clock.is_there()) {
      into.per_clock = figure;
      into.per_clock.value = figure.value / (figure.chip.memory_clock_mhz * 1e6);
    }
  }

  bool can_be_sustained() const noexcept override { return kernel_->can_be_sustained(); }
  peak_figure sustain(double seconds) override {
    return driver_is_better_ ? driver_.sustain(seconds) : kernel_->sustain(seconds);
  }

 private:
  std::unique_ptr<dram_experiment> kernel_;
  driver_copy driver_;
  bool driver_is_better_ = false;
};

}  // namespace

std::unique_ptr<experiment> make_dram_experiment(test_id test, lab& in) {
  auto const function = in.bench.find_kernel("memory", info_of(test).name);
  if (function == nullptr) return nullptr;
  auto made = std::make_unique<dram_experiment>(in, test, function);
  if (test != test_id::dram_copy) return made;
  return std::make_unique<better_copy>(std::move(made), in);
}

}  // namespace gpuprof::guest::peaks
