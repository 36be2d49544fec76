// SPDX-License-Identifier: Apache-2.0
// Writes captures of sweeps whose rates are known: a matrix product and a ReLU at several sizes,
// labels and payloads of all kinds.
//
//   gpuprof-swept-captures FOLDER                  all small ones
//   gpuprof-swept-captures FILE --large KERNELS    one with payloads, to measure with
#include "../export/made_capture.hpp"

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

using namespace gpuprof;

namespace {

constexpr double clock_hz = 1.75e9, sms = 132;
constexpr char tensor_bf16[] = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";

/// What one call at a size does, and how fast.
struct made_call {
  double size = 0;
  double flops = 0;      // of a call
  double flop_rate = 0;  // per second, or
  double ns = 0;
  double dram_rate = 0;
};

/// A capture of one GPU whose counters are read around every other launch.
class swept_capture {
 public:
  explicit swept_capture(std::string const& path, std::string_view program = {}) : out_(path) {
    if (!program.empty()) out_.fact("process.program", program);  // the first of a key holds
    out_.describe("4711");
    out_.window(0, 10'000'000'000);
  }
  made_capture& file() { return out_; }

  /// BF16 on tensor cores at 830 TFLOP/s of this clock; DRAM 4 TB/s, mixed 3.6.
  void counters() {
    peak("tensor_bf16", 830e12 / clock_hz / sms, 830e12, 989e12);
    peak("fp32", 250, 60e12, 67e12);
    peak("l2_read", 40, 9e12, 0);
    peak("dram_read", 0, 4e12, 4.8e12);
    peak("dram_copy", 0, 3.6e12, 4.8e12);
    metric("sm__cycles_elapsed.avg.per_second");
    metric("sm__warps_active.avg.pct_of_peak_sustained_active");
    metric("sm__pipe_tensor_cycles_active.avg");
    metric("sm__cycles_active.avg");
    metric("dram__bytes_read.sum");
    metric("dram__bytes_write.sum");
    metric("lts__t_bytes.sum");
    for (auto const* type : {"bf16_dst_fp32", "fp16", "fp8", "tf32_dst_fp32", "int8", "fp64"})
      metric("sm__ops_path_tensor_src_" + std::string(type) + ".sum");
    for (auto const* type : {"f", "h", "d"})
      for (auto const* operation : {"fma", "mul", "add"})
        metric("smsp__sass_thread_inst_executed_op_" + std::string(type) + operation +
               "_pred_on.sum");
  }
  /// `read`: counters ran around it.
  void call(shape_id shape, made_call const& of, bool read, range_id range = {}) {
    auto const ns = of.ns > 0 ? of.ns : of.flops / of.flop_rate * 1e9;
    auto kernel = out_.kernel(shape, now_ + 1000, std::llround(ns));
    kernel.range = range;
    out_.add(kernel);
    now_ += static_cast<std::uint64_t>(ns) + 5000;
    if (!read) return;
    out_.add(read_launch_record{.correlation = kernel.correlation,
                                .opened = kernel.launched,
                                .closed = kernel.start + kernel.duration});
    for (std::size_t i = 0; i < metrics_.size(); ++i)
      out_.add(reading_value_record{kernel.correlation, static_cast<metric_id>(i + 1),
                                    counted(metrics_[i], of, ns)});
  }
  range_id open(std::string_view name, payload_kind kind, std::uint64_t bits,
                made_call const& declares = {}, range_id parent = {}) {
    auto const id = static_cast<range_id>((2ull << 40) + ++ranges_);
    out_.add(range_begin{.time = at(now_),
                         .range = id,
                         .parent = parent,
                         .thread = static_cast<thread_index>(1),
                         .level = static_cast<std::uint16_t>(raw(parent) == 0 ? 0 : 1),
                         .name = out_.name(name),
                         .payload = kind,
                         .payload_bits = bits,
                         .declared_flops = declares.flops,
                         .declared_bytes = declares.dram_rate});
    return id;
  }
  void close(range_id range) { out_.end(range, now_); }

 private:
  static double counted(std::string const& metric, made_call const& of, double ns) {
    if (metric == "sm__cycles_elapsed.avg.per_second") return clock_hz;
    if (metric == tensor_bf16) return of.flops;
    if (metric == "dram__bytes_read.sum" || metric == "dram__bytes_write.sum")
      return of.dram_rate * ns / 1e9 / 2;
    if (metric == "lts__t_bytes.sum") return of.dram_rate * ns / 1e9;
    return 0;
  }
  void peak(char const* test, double per_clock, double burst, double theory) {
    out_.add(peak_record{.test = out_.name(test),
                         .group = out_.name("made"),
                         .title = out_.name(test),
                         .unit = out_.name("1/s"),
                         .clock = {},
                         .per_clock = per_clock,
                         .burst = burst,
                         .burst_sm_clock_mhz = 1750,
                         .theory = theory,
                         .method = {},
                         .operands = {},
                         .measured_at = out_.name("2026-03-01T12:00:00Z"),
                         .remark = {}});
  }
  void metric(std::string const& name) {
    metrics_.push_back(name);
    out_.add(
        metric_record{.metric = static_cast<metric_id>(metrics_.size()), .name = out_.name(name)});
  }

  made_capture out_;
  std::vector<std::string> metrics_;
  std::uint64_t now_ = 1000, ranges_ = 0;
};

made_call gemm(double size, double tflops, double terabytes) {
  return {size, 2 * size * size * size, tflops * 1e12, 0, terabytes * 1e12};
}
made_call relu(double size, double terabytes) {
  return {size, 0, 0, 8 * size / (terabytes * 1e12) * 1e9, terabytes * 1e12};
}

/// Waits for latency, then for memory, then computes, then loses its clock.
std::vector<made_call> const gemms = {
    gemm(256, 9, 0.8),    gemm(512, 90, 2.4),   gemm(1024, 340, 1.9), gemm(2048, 640, 1.2),
    gemm(4096, 700, 0.7), gemm(8192, 690, 0.5), gemm(16384, 560, 0.4)};
std::vector<made_call> const relus = {
    relu(65536, 0.2),    relu(262144, 0.7),   relu(1048576, 1.6),   relu(4194304, 2.7),
    relu(16777216, 3.1), relu(67108864, 3.2), relu(268435456, 3.15)};

void labeled(std::string const& path, std::string const& label, made_call const& of,
             std::string_view kernel, bool counted = true, std::string_view program = {}) {
  swept_capture out(path, program);
  out.file().fact("label.size", label);
  if (counted) out.counters();
  auto const work = out.file().shape(kernel), fill = out.file().shape("fill");
  out.call(fill, {0, 0, 0, 2000, 0}, false);
  for (int i = 0; i < 6; ++i) {
    auto const range = out.open("step", payload_kind::none, 0);
    out.call(work, of, counted && i % 2 == 1, range);
    out.close(range);
  }
}

std::string whole(double value) {
  return std::to_string(static_cast<std::uint64_t>(value));
}

void sweeps(std::string const& folder) {
  for (auto const& of : gemms)
    labeled(folder + "/gemm" + whole(of.size) + ".gpuprof", whole(of.size), of, "gemm_bf16");
  for (auto const& of : relus)
    labeled(folder + "/relu" + whole(of.size) + ".gpuprof", whole(of.size), of, "relu");
}

/// What does not fit beside them.
void odd_ones(std::string const& folder) {
  labeled(folder + "/again4096.gpuprof", "4096", gemm(4096, 680, 0.7), "gemm_bf16");
  labeled(folder + "/other.gpuprof", "3072", gemm(3072, 650, 0.9), "gemm_bf16", true, "another");
  labeled(folder + "/named.gpuprof", "large", gemm(4096, 700, 0.7), "gemm_bf16");
  labeled(folder + "/hostile.gpuprof", "</text><script>alert(1)</script>\n\"&\x01", gemms[4],
          "gemm_bf16");
  labeled(folder + "/uncounted.gpuprof", "1024", gemm(1024, 340, 1.9), "gemm_bf16", false);
  labeled(folder + "/uncounted2048.gpuprof", "2048", gemm(2048, 640, 1.2), "gemm_bf16", false);
  swept_capture unlabeled(folder + "/unlabeled.gpuprof");
  unlabeled.call(unlabeled.file().shape("gemm_bf16"), gemms[0], false);
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The kernel of each size is another shape, as with libraries of matrix products.
void payloads(std::string const& path, payload_kind kind) {
  swept_capture out(path);
  out.counters();
  for (auto const& of : gemms) {
    auto const shape = out.file().shape("gemm_" + whole(of.size));
    auto bits = static_cast<std::uint64_t>(of.size);
    if (kind == payload_kind::float64) bits = bits_of(of.size);
    if (kind == payload_kind::text)
      bits = raw(out.file().name("{\"shape\":{\"m\":" + whole(of.size) + ",\"n\":7}}"));
    for (int i = 0; i < 4; ++i) {
      auto const range = out.open("gemm", kind, bits);
      out.call(shape, of, i % 2 == 1, range);
      out.close(range);
    }
  }
}

/// Nothing was counted: bytes of "relu" are what the ranges declare, FLOP of "gemm" what ranges
/// inside them do.
void declared(std::string const& path) {
  swept_capture out(path);
  auto const product = out.file().shape("gemm"), fill = out.file().shape("relu");
  for (auto const& of : gemms) {
    auto declares = of;
    declares.dram_rate = 0;
    auto const range =
        out.open("gemm", payload_kind::unsigned64, static_cast<std::uint64_t>(of.size));
    auto const inner = out.open("product", payload_kind::none, 0, declares, range);
    out.call(product, of, false, inner);
    out.close(inner);
    out.close(range);
  }
  for (auto const& of : relus) {
    made_call declares;
    declares.dram_rate = 8 * of.size;
    auto const range =
        out.open("relu", payload_kind::unsigned64, static_cast<std::uint64_t>(of.size), declares);
    out.call(fill, of, false, range);
    out.close(range);
  }
}

/// Twenty kernels in each range, of 60 sizes alternately.
void large(std::string const& path, std::uint64_t kernels) {
  constexpr std::uint64_t in_range = 20, sizes = 60;
  swept_capture out(path);
  out.counters();
  std::vector<shape_id> shapes;
  for (std::uint64_t i = 0; i < sizes; ++i)
    shapes.push_back(out.file().shape("gemm_" + std::to_string(i)));
  for (std::uint64_t i = 0; i < kernels / in_range; ++i) {
    auto const size = 64 * (1 + i % sizes);
    auto const of = gemm(static_cast<double>(size), 500, 1);
    auto const range = out.open("gemm", payload_kind::unsigned64, size);
    for (std::uint64_t k = 0; k < in_range; ++k)
      out.call(shapes[i % sizes], of, i < 100 * sizes && k == 7, range);
    out.close(range);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string const folder = argc > 1 ? argv[1] : ".";
  if (argc > 3 && std::strcmp(argv[2], "--large") == 0) {
    large(folder, std::strtoull(argv[3], nullptr, 10));
    return 0;
  }
  sweeps(folder);
  odd_ones(folder);
  payloads(folder + "/payload_unsigned.gpuprof", payload_kind::unsigned64);
  payloads(folder + "/payload_real.gpuprof", payload_kind::float64);
  payloads(folder + "/payload_json.gpuprof", payload_kind::text);
  declared(folder + "/declared.gpuprof");
  return 0;
}
