// SPDX-License-Identifier: Apache-2.0
// Writes captures of a made training, for comparisons: with the noise of real runs, and what a
// test asks for.
//
//   gpuprof-compared-runs FILE [KEY=VALUE...]
//
// seed=1 steps=80 slowed=1.03 (kernel_3) clock=0.94 (of all kernels) counters=1 (clock, L2 traffic)
// renamed=1 (kernel_3) split=1 (kernel_4) ranges=0 kernels=0 lost=5 gpu="NVIDIA A100"
// stacks=1 (kernel_i from line 10+i, odd ones in module c_fc) moved=5 (lines below)
// program=/bin/made efficiency=0.8 (share of the L2 roof)
#include "process/export/made_capture.hpp"

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace gpuprof;

namespace {

class wanted {
 public:
  wanted(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
      std::string const word = argv[i];
      auto const equals = word.find('=');
      if (equals != word.npos) values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  std::string text(std::string const& key, std::string const& otherwise) const {
    auto const found = values_.find(key);
    return found == values_.end() ? otherwise : found->second;
  }
  double number(std::string const& key, double otherwise) const {
    auto const found = values_.find(key);
    return found == values_.end() ? otherwise : std::atof(found->second.c_str());
  }

 private:
  std::map<std::string, std::string> values_;
};

constexpr int kernel_count = 8;
constexpr double full_clock = 1.98e9, l2_bytes_per_clock_and_sm = 64;
constexpr unsigned sm_count = 132;

class made_training {
 public:
  made_training(std::string const& path, wanted const& of)
      : of_(of), out_(path), random_(static_cast<unsigned>(of.number("seed", 1))) {
    describe();
    if (of_.number("counters", 0) > 0) describe_counters();
  }

  void write() {
    auto const steps = static_cast<int>(of_.number("steps", 80));
    auto const slower = 1 + 0.02 * (2 * uniform_(random_) - 1);
    clock_ = full_clock * of_.number("clock", 1) / slower;
    make_kernels();
    if (of_.number("stacks", 0) > 0) make_stacks();
    for (int i = 0; i < steps; ++i) write_step(i);
    out_.window(0, now_ + 1000);
    auto const lost = of_.number("lost", 0);
    if (lost > 0)
      out_.add(counter_record{out_.name("lost.kernels"), static_cast<std::uint64_t>(lost)});
  }

 private:
  struct made_kernel {
    shape_id shape{};
    double ns = 0;
    stack_id stack = {};
  };

  void describe();
  void describe_counters();
  void make_kernels();
  void make_stacks();
  void write_step(int step);
  void run(made_kernel const& kernel, range_id range, bool is_read);

  wanted const& of_;
  made_capture out_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_;
  std::normal_distribution<double> normal_;
  std::vector<made_kernel> kernels_;
  std::set<shape_id> has_stack_;
  std::uint64_t now_ = 1000;
  double clock_ = full_clock;
};

void made_training::describe() {
  out_.fact("process.id", "4242");
  out_.fact("process.program", of_.text("program", "/bin/made"));
  out_.fact("process.command_line", of_.text("program", "/bin/made") + " --by test");
  auto const gpu = of_.text("gpu", "NVIDIA H200");
  out_.add(device_record{.device = device_id{0},
                         .name = out_.name(gpu),
                         .uuid = out_.name("GPU-" + gpu),
                         .chip = out_.name("GH100"),
                         .compute_major = 9,
                         .sm_count = sm_count,
                         .max_sm_clock_khz = static_cast<std::uint32_t>(full_clock / 1e3),
                         .pci_bus = {}});
}

void made_training::describe_counters() {
  out_.add(peak_record{.test = out_.name("l2_read"),
                       .group = out_.name("memory"),
                       .title = out_.name("L2 read"),
                       .unit = out_.name("B/s"),
                       .clock = out_.name("SM clock per SM"),
                       .per_clock = l2_bytes_per_clock_and_sm,
                       .burst = l2_bytes_per_clock_and_sm * sm_count * full_clock,
                       .burst_sm_clock_mhz = full_clock / 1e6,
                       .method = {},
                       .operands = {},
                       .measured_at = out_.name("2026-03-01T12:00:00Z"),
                       .remark = {}});
  out_.add(metric_record{.metric = metric_id{1},
                         .name = out_.name("sm__cycles_elapsed.avg.per_second")});
  out_.add(metric_record{.metric = metric_id{2}, .name = out_.name("lts__t_bytes.sum")});
}

void made_training::make_kernels() {
  auto const slower = full_clock / clock_;
  for (int i = 0; i < kernel_count; ++i) {
    auto name = "_Z8kernel_" + std::to_string(i) + "Pf";
    if (i == 3 && of_.number("renamed", 0) > 0) name = "_Z11newer_namedPf";
    auto ns = 30e3 * (1 + i % 3) * slower * std::exp(0.002 * normal_(random_));
    if (i == 3) ns *= of_.number("slowed", 1);
    auto const is_split = i == 4 && of_.number("split", 0) > 0;
    if (!is_split) kernels_.push_back({out_.shape(name), ns, {}});
    for (auto const* part : {"_Z6part_aPf", "_Z6part_bPf"})
      if (is_split) kernels_.push_back({out_.shape(part), ns * 0.7, {}});
  }
}

void made_training::make_stacks() {
  auto const file = out_.name("/program/train.py");
  stack_id const launcher{1};
  out_.add(stack_record{.stack = launcher,
                        .file = out_.name("/launcher/run.py"),
                        .function = out_.name("main"),
                        .line = 3});
  for (std::uint32_t i = 0; i < kernels_.size(); ++i) {
    auto const line = 10 + i + static_cast<std::uint32_t>(of_.number("moved", 0));
    kernels_[i].stack = static_cast<stack_id>(i + 2);
    out_.add(stack_record{.stack = kernels_[i].stack,
                          .caller = launcher,
                          .file = file,
                          .function = out_.name("train"),
                          .line = line,
                          .module = i % 2 == 1 ? out_.name("c_fc: Linear") : name_id{}});
    auto const text = "y = layer" + std::to_string(i) + "(x)";
    out_.add(source_line_record{file, line, out_.name(text)});
  }
}

void made_training::run(made_kernel const& kernel, range_id range, bool is_read) {
  auto ns = kernel.ns * (1 + 0.01 * normal_(random_));
  if (uniform_(random_) < 0.01) ns *= 4;
  auto row = out_.kernel(kernel.shape, now_ + 2000, static_cast<std::int64_t>(ns));
  row.launched = at(now_);
  row.range = range;
  // As with --python-backtrace auto: the first, and then some at random.
  auto const is_first = has_stack_.insert(kernel.shape).second;
  if (raw(kernel.stack) != 0 && (is_first || uniform_(random_) < 0.5)) row.stack = kernel.stack;
  out_.add(row);
  now_ += 2000 + static_cast<std::uint64_t>(ns);
  if (!is_read) return;
  auto const rate = of_.number("efficiency", 0.8) * l2_bytes_per_clock_and_sm * sm_count * clock_;
  out_.add(read_launch_record{.correlation = row.correlation,
                              .opened = at(now_ - 100 - static_cast<std::uint64_t>(ns)),
                              .closed = row.start + row.duration});
  out_.add(reading_value_record{row.correlation, metric_id{1}, clock_});
  out_.add(reading_value_record{row.correlation, metric_id{2}, rate * kernel.ns * 1e-9});
}

void made_training::write_step(int number) {
  auto const has_ranges = of_.number("ranges", 1) > 0;
  auto const step = has_ranges ? out_.begin("step " + std::to_string(number), now_) : range_id{};
  auto const forward = has_ranges ? out_.begin("forward", now_ + 100, step) : range_id{};
  auto const is_read = number % 10 == 3 && of_.number("counters", 0) > 0;
  now_ += 200;
  if (of_.number("kernels", 1) > 0)
    for (auto const& kernel : kernels_)
      for (int i = 0; i < 3; ++i) run(kernel, forward, is_read);
  now_ += 1000;
  if (has_ranges) out_.end(forward, now_);
  now_ += 20'000 + static_cast<std::uint64_t>(2000 * uniform_(random_));
  if (has_ranges) out_.end(step, now_);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  wanted const of(argc, argv);
  made_training(argv[1], of).write();
  return 0;
}
