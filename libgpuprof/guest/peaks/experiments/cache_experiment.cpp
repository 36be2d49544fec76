// SPDX-License-Identifier: Apache-2.0
// The tests of the memories on the chip: L2, L1 and shared memory.
#include "guest/peaks/checks/memory_check.hpp"
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/throughput.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::guest::peaks {
namespace {

constexpr std::uint64_t fill_bytes = 32u << 10;      // filled by one block of memory_fill
constexpr std::uint64_t l2_chunk_bytes = 32u << 10;  // read or written by a block at a time
constexpr unsigned l2_threads = 512, local_threads = 256;
constexpr std::uint64_t local_bytes = 28u << 10;

throughput_job job_of(lab& in, std::string_view kernel, unsigned threads) {
  throughput_job job;
  auto& launch = job.launch;
  launch.function = in.bench.find_kernel("memory", kernel);
  if (launch.function == nullptr) return job;
  launch.threads = threads;
  launch.blocks = in.bench.sm_count() * in.bench.resident_blocks(launch.function, threads, 0);
  launch.arguments.seed = operand_seed;
  launch.arguments.zeros = in.options.zeros ? 1 : 0;
  return job;
}

/// Returns a buffer of random floats that the host can compute too.
buffer filled_buffer(lab& in, std::uint64_t bytes) {
  auto made = in.bench.allocate((bytes + fill_bytes - 1) / fill_bytes * fill_bytes);
  kernel_launch fill;
  fill.function = in.bench.find_kernel("memory", "memory_fill");
  fill.blocks = static_cast<unsigned>(made.bytes() / fill_bytes);
  fill.threads = 512;
  fill.arguments.seed = operand_seed;
  fill.arguments.zeros = in.options.zeros ? 1 : 0;
  fill.arguments.output = made.on_gpu();
  in.bench.launch(fill);
  in.bench.wait();
  return made;
}

/// Runs the kernel and checks the fold of one block. run_once() compares the other blocks with it.
void expect_fold(lab& in, throughput_job const& job, std::uint64_t iterations, std::uint32_t fold) {
  run_once(in, job, iterations);
  auto const found = in.bench.copied<block_span>(in.spans, 1).front().fold;
  if (found != fold && !in.options.zeros)
    throw no_figure(peak_outcome::failed, "its result is wrong: it did not read what was written");
}

class l2_experiment final : public experiment {
 public:
  l2_experiment(lab& in, throughput_job job, bool writes)
      : in_(in), job_(std::move(job)), writes_(writes) {
    auto const l2 =
        static_cast<std::uint64_t>(in.bench.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    // Two blocks keep an SM busy; more only congest the crossbar. Each block has one or two chunks
    // of its own, in half of the L2: the other half may hold copies.
    auto const sms = in.bench.sm_count();
    auto const fitting = l2 / 2 / l2_chunk_bytes / sms;  // chunks for each SM
    auto& blocks = job_.launch.blocks;
    blocks =
        std::min(blocks, sms * static_cast<unsigned>(std::clamp<std::uint64_t>(fitting, 1, 2)));
    chunks_of_block_ = fitting * sms / blocks >= 2 ? 2 : 1;
  }

  void measure(peak_result& into) override {
    into.operands = in_.options.zeros ? "zeros" : "random";
    into.method = writes_ ? "st.global.cg.v4" : "ld.global.cg.v4";
    prepare();
    auto const figures = measure_throughput(in_, job_);
    if (writes_) check_written();
    into.burst = into.per_clock = figures.burst;
    // SMs differ in their distance to the L2, so the rate of one SM is not that of all together.
    into.per_clock.value =
        figures.burst.value / (figures.burst.chip.sm_clock_mhz * 1e6 * in_.bench.sm_count());
    into.buffer_bytes = memory_.bytes();
    iterations_ = figures.iterations;
  }

  bool can_be_sustained() const noexcept override { return iterations_ != 0; }
  peak_figure sustain(double seconds) override {
    return sustain_throughput(in_, job_, iterations_, seconds);
  }

 private:
  void prepare() {
    auto const footprint = chunks_of_block_ * job_.launch.blocks * l2_chunk_bytes;
    memory_ = filled_buffer(in_, footprint);
    job_.work = l2_chunk_bytes;
    job_.granule = chunks_of_block_;
    if (!writes_ && !in_.options.zeros)
      job_.folds = l2_read_folds(operand_seed, footprint, job_.launch.blocks);
    job_.launch.arguments.input = job_.launch.arguments.output = memory_.on_gpu();
    job_.launch.arguments.bytes = footprint;
  }

  void check_written() const {
    auto const words = in_.bench.copied<std::uint32_t>(memory_, memory_.bytes() / 4);
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      if (words[i] != written_word(operand_seed, i) && !in_.options.zeros)
        throw no_figure(peak_outcome::failed, "its result is wrong: it did not write everything");
    }
  }

  lab& in_;
  throughput_job job_;
  bool writes_;
  std::uint64_t chunks_of_block_ = 1;
  buffer memory_;
  std::uint64_t iterations_ = 0;
};

enum class local_kind { l1_read, shared_read, shared_write };

class local_experiment final : public experiment {
 public:
  local_experiment(lab& in, throughput_job job, local_kind kind)
      : in_(in), job_(std::move(job)), kind_(kind) {}

  void measure(peak_result& into) override {
    static constexpr std::array methods{"ld.global.ca.v4", "ld.shared.v4", "st.shared.v4"};
    into.method = methods[static_cast<std::size_t>(kind_)];
    into.operands = in_.options.zeros ? "zeros" : "random";
    into.buffer_bytes = local_bytes;
    job_.work = 16.0 * 16 * local_threads;
    if (kind_ == local_kind::l1_read) {
      memory_ = filled_buffer(in_, local_bytes);
      job_.launch.arguments.input = memory_.on_gpu();
    }
    constexpr std::uint64_t iterations = 3;
    expect_fold(in_, job_, iterations,
                kind_ == local_kind::shared_write ? shared_write_fold(operand_seed, iterations)
                                                  : local_read_fold(operand_seed, iterations));
    auto const figures = measure_throughput(in_, job_);
    into.per_clock = figures.per_clock;
    into.burst = figures.burst;
    iterations_ = figures.iterations;
  }

  bool can_be_sustained() const noexcept override { return iterations_ != 0; }
  peak_figure sustain(double seconds) override {
    return sustain_throughput(in_, job_, iterations_, seconds);
  }

 private:
  lab& in_;
  throughput_job job_;
  local_kind kind_;
  buffer memory_;
  std::uint64_t iterations_ = 0;
};

}  // namespace

std::unique_ptr<experiment> make_cache_experiment(test_id test, lab& in) {
  bool const l2 = test == test_id::l2_read || test == test_id::l2_write;
  auto job = job_of(in, info_of(test).name, l2 ? l2_threads : local_threads);
  if (job.launch.function == nullptr) return nullptr;
  if (l2) return std::make_unique<l2_experiment>(in, std::move(job), test == test_id::l2_write);
  auto const kind = test == test_id::l1_read       ? local_kind::l1_read
                    : test == test_id::shared_read ? local_kind::shared_read
                                                   : local_kind::shared_write;
  return std::make_unique<local_experiment>(in, std::move(job), kind);
}

}  // namespace gpuprof::guest::peaks
