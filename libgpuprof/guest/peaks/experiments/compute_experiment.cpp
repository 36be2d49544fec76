// SPDX-License-Identifier: Apache-2.0
// The tests of CUDA cores and tensor cores. Their kernels use only registers, shared memory and
// tensor memory.
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/kernel_list.hpp"
#include "guest/peaks/experiments/throughput.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::guest::peaks {
namespace {

/// A kernel that has code for this chip.
struct candidate {
  compute_kernel const* kernel;
  throughput_job job;
  std::uint64_t iterations = 0;  // for a run of a millisecond; 0: not measured
};

std::uint64_t result_bytes(compute_kernel const& kernel) {
  auto const* const tensor = std::get_if<tensor_check>(&kernel.check);
  return tensor != nullptr ? stored_bytes(tensor->geometry) : 256 * sizeof(double);
}

std::string wrong_in(compute_kernel const& kernel, std::vector<std::byte> const& result,
                     std::uint64_t iterations) {
  if (auto const* const chains = std::get_if<chain_check>(&kernel.check))
    return check_chains(chains->kind, result, operand_seed, iterations * chains->steps);
  auto const& tensor = std::get<tensor_check>(kernel.check);
  return check_tensor(tensor.geometry, result, operand_seed, iterations * tensor.repeats);
}

class compute_experiment final : public experiment {
 public:
  compute_experiment(lab& in, std::vector<candidate> candidates)
      : in_(in), candidates_(std::move(candidates)) {}

  void measure(peak_result& into) override {
    into.operands = in_.options.zeros ? "zeros" : "random";
    for (auto& c : candidates_) {
      if (!in_.options.zeros) check(c);
      auto const figures = measure_throughput(in_, c.job);
      c.iterations = figures.iterations;
      if (best_ != nullptr && figures.per_clock.value <= into.per_clock.value) continue;
      best_ = &c;
      into.method = c.kernel->method;
      into.per_clock = figures.per_clock;
      into.burst = figures.burst;
    }
  }

  bool can_be_sustained() const noexcept override { return best_ != nullptr; }
  peak_figure sustain(double seconds) override {
    return sustain_throughput(in_, best_->job, best_->iterations, seconds);
  }

 private:
  /// Compares the results of a few iterations number by number. In later runs, all blocks must have
  /// the same result.
  void check(candidate const& c) const {
    constexpr std::uint64_t iterations = 2;
    auto const result = in_.bench.allocate(result_bytes(*c.kernel));
    auto job = c.job;
    job.launch.arguments.output = result.on_gpu();
    job.launch.arguments.check = 1;
    run_once(in_, job, iterations);
    auto const stored = in_.bench.copied<std::byte>(result, result.bytes());
    if (auto const wrong = wrong_in(*c.kernel, stored, iterations); !wrong.empty())
      throw no_figure(peak_outcome::failed, wrong);
  }

  lab& in_;
  std::vector<candidate> candidates_;
  candidate const* best_ = nullptr;
};

}  // namespace

std::unique_ptr<experiment> make_compute_experiment(test_id test, lab& in) {
  std::vector<candidate> found;
  for (auto const& kernel : compute_kernels()) {
    if (kernel.test != test) continue;
    auto const function = in.bench.find_kernel(kernel.image, kernel.name);
    if (function == nullptr) continue;
    candidate c{&kernel, {}, 0};
    c.job.work = kernel.work;
    c.job.rests = info_of(test).group == "tensor_cores" && !in.options.quick;
    auto& launch = c.job.launch;
    launch.function = function;
    launch.threads = kernel.threads;
    launch.shared_bytes = kernel.shared_bytes;
    launch.blocks = in.bench.sm_count() *
                    in.bench.resident_blocks(function, kernel.threads, kernel.shared_bytes);
    launch.arguments.seed = operand_seed;
    launch.arguments.zeros = in.options.zeros ? 1 : 0;
    found.push_back(c);
    if (!kernel.or_next) break;
  }
  if (found.empty()) return nullptr;
  return std::make_unique<compute_experiment>(in, std::move(found));
}

}  // namespace gpuprof::guest::peaks
