// SPDX-License-Identifier: Apache-2.0
// Rules on matrix products: tensor cores that are idle or get less data than they could take.
#include "host/advice/kernel_caps.hpp"
#include "host/advice/product_name.hpp"
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double memory_bound = 0.7;  // of the DRAM roof: another kernel would not be faster
constexpr double idle_tensor_cores = 0.01;
constexpr double nearly_all_flop = 0.9;
constexpr double busy_fp32 = 0.3;     // of its roof
constexpr double tf32_over_fp32 = 8;  // upper bound, from the data sheets of all GPUs
constexpr double small_batch_window_share = 0.2;
constexpr double far_below_ridge = 0.25;

double share_of_total(kernel_view const& view, precision of) {
  auto const total = view.kernel.figures.total_flops;
  auto const part = view.kernel.figures.flops[static_cast<std::size_t>(of)];
  return total && part && *total > 0 ? *part / *total : 0;
}

/// The highest rate in this capture of a fully aligned product at the same precision and on the
/// same GPU.
std::optional<double> rate_of_aligned_sibling(kernel_view const& view) {
  auto const of = view.tensor_precision();
  if (!of) return std::nullopt;
  std::optional<double> best;
  for (auto const& other : view.run.kernels) {
    auto const rate = other.figures.flops[static_cast<std::size_t>(*of)];
    auto const product = parse_product(other.name);
    if (other.device != view.kernel.device || !rate || !product || !product->on_tensor_cores)
      continue;
    auto const bytes = product->aligned_bytes();
    if (!bytes || *bytes >= full_alignment_bytes) best = std::max(best.value_or(0), *rate);
  }
  return best;
}

/// Time saved if the kernel reached the share of the roof that libraries reach.
double up_to_reachable(kernel_view const& view) {
  return view.time() * std::max(0.0, 1 - *view.best_share() / reachable_share);
}

void set_counted_alignment_gain(kernel_view const& view, double share, finding& one) {
  one.gain = founded(up_to_reachable(view));
  one.arithmetic = "high: time x (1 - share / 0.8) = " + in_time(view.time()) + " x (1 - " +
                   as_figure(share) + " / 0.8); low: half of it";
  one.because.push_back({"of the roof", share, "", view.source_of_best()});
}

/// Compares with the best aligned product of this run on the same GPU. Its rate may exceed the
/// reachable share used elsewhere (0.92 of the tensor roof on an H100), and it limits the low gain.
void compare_with_sibling(kernel_view const& view, double rate, double sibling, finding& one) {
  auto const as_fast = view.time() * (1 - rate / sibling);
  one.because.push_back(
      {"best aligned product of this run", sibling, "FLOP/s", view.source_of_flops()});
  one.gain.low_ns = std::min(one.gain.high_ns, as_fast) / 2;
  one.gain.high_ns = std::max(one.gain.high_ns, as_fast);
  one.arithmetic =
      "time x (1 - rate / rate of the best aligned product of this run) = " + in_time(view.time()) +
      " x (1 - " + as_rate(rate, "FLOP/s") + " / " + as_rate(sibling, "FLOP/s") +
      "), and time x (1 - share / 0.8); high: the larger, low: half of the smaller";
}

double tensor_error(kernel_view const& view) {
  auto const of = view.tensor_precision();
  return of ? view.kernel.figures.flops_error[static_cast<std::size_t>(*of)].value_or(0) : 0;
}

void set_alignment_gain(kernel_view const& view, std::uint32_t bytes, finding& one) {
  if (auto const share = view.best_share()) {
    set_counted_alignment_gain(view, *share, one);
  } else {
    one.gain = possible(view.time() * (1 - static_cast<double>(bytes) / full_alignment_bytes));
    one.arithmetic = "nothing was counted: high is time x (1 - " + std::to_string(bytes) +
                     " of 16 bytes a load), low is 0";
  }
  auto const rate = view.tensor_rate(), sibling = rate_of_aligned_sibling(view);
  if (rate)
    one.because.push_back(
        {"achieved", *rate, "FLOP/s", view.source_of_flops(), tensor_error(view)});
  if (rate && sibling && *sibling > *rate) compare_with_sibling(view, *rate, *sibling, one);
}

struct tensor_time {
  double ns = 0;
  std::string arithmetic;
};

double time_of_bytes(kernel_view const& view) {
  auto const dram = view.peak("dram_read");
  auto const& rate = view.kernel.figures.dram_rate;
  return dram && rate ? *rate / *dram * view.time() : 0;
}

/// The time that the same FLOP and bytes would take on tensor cores. Nothing: not known.
std::optional<tensor_time> on_tensor_cores(kernel_view const& view, std::string_view test) {
  auto const peak = view.peak(test);
  auto const& figures = view.kernel.figures;
  if (!peak || !figures.total_flops || *figures.total_flops <= 0) return std::nullopt;
  auto const products = *figures.total_flops / (reachable_share * *peak) * view.time();
  auto const bytes = time_of_bytes(view);
  return tensor_time{std::min(view.time(), std::max(products, bytes)),
                     "time - max(FLOP / (0.8 x " + as_rate(*peak, "FLOP/s") +
                         "), bytes / DRAM rate) = " + in_time(view.time()) + " - max(" +
                         in_time(products) + ", " + in_time(bytes) + ")"};
}

/// Used if the FLOP of an FP32 product are not known: assumes the same share of the TF32 roof.
std::optional<tensor_time> at_same_share(kernel_view const& view) {
  auto const fp32 = view.peak("fp32"), tf32 = view.peak("tensor_tf32");
  if (!fp32 || !tf32) return std::nullopt;
  auto const products = view.time() * *fp32 / *tf32;
  auto const bytes = time_of_bytes(view);
  return tensor_time{std::min(view.time(), std::max(products, bytes)),
                     "its FLOP are not known; at the same share of the roof: time - max(time x "
                     "FP32 peak / TF32 peak, bytes / DRAM rate) = " +
                         in_time(view.time()) + " - max(" + in_time(products) + ", " +
                         in_time(bytes) + ")"};
}

void set_fp32_gain(kernel_view const& view, finding& one) {
  auto const counted = on_tensor_cores(view, "tensor_tf32");
  if (counted)
    one.because = {view.achieved()};
  else
    one.because = {{"time", view.time(), "ns", "traced"}};
  if (auto const there = counted ? counted : at_same_share(view)) {
    one.because.push_back({"TF32 peak", *view.peak("tensor_tf32"), "FLOP/s", "measured peak"});
    one.gain = founded(view.time() - there->ns);
    one.arithmetic = there->arithmetic + "; low: half of it";
  } else {
    one.gain = possible(view.time() * (1 - 1 / tf32_over_fp32));
    one.arithmetic =
        "neither its FLOP nor peaks are known: high is time x 7/8, for TF32 is up to eight times "
        "as fast as FP32 (A100, H100); low is 0, for on GeForce it is as fast";
  }
}

bool is_fp32_product(kernel_view const& view, product_name const& product) {
  if (product.single_precision) return true;
  return share_of_total(view, precision::fp32) >= nearly_all_flop &&
         view.share_of(compute_roofs + static_cast<std::size_t>(precision::fp32)) >= busy_fp32;
}

/// Returns the peak test that would apply to a product that could use tensor cores but does not.
std::optional<std::string_view> unused_tensor_test(kernel_view const& view,
                                                   product_name const& product) {
  if (view.tensor_active() >= idle_tensor_cores || product.on_tensor_cores) return std::nullopt;
  if (product.half_precision || share_of_total(view, precision::fp16) >= nearly_all_flop)
    return "tensor_fp16";
  auto const fp64 = view.peak("fp64"), tensor = view.peak("tensor_fp64");
  if (share_of_total(view, precision::fp64) >= nearly_all_flop && fp64 && tensor &&
      *tensor > 1.5 * *fp64)
    return "tensor_fp64";
  return std::nullopt;
}

bool is_small_batch(kernel_view const& view) {
  auto const of = view.tensor_precision();
  if (!of || view.share_of(dram_roof) < memory_bound || !view.kernel.figures.intensity)
    return false;
  auto const peak = view.peak(key_of(*of)), dram = view.peak("dram_read");
  return peak && dram && *view.kernel.figures.intensity < far_below_ridge * *peak / *dram;
}

}  // namespace

void look_at_alignment(kernel_view const& view, std::vector<finding>& found) {
  auto const product = parse_product(view.kernel.name);
  if (!product || !product->on_tensor_cores) return;
  auto const bytes = product->aligned_bytes();
  if (!bytes || *bytes >= full_alignment_bytes || view.share_of(dram_roof) >= memory_bound) return;
  // With aligned rows the library picks another kernel, so the roof of this one is no bound.
  auto one = finding_on(view, "misaligned_products", kernel_claim::other_work,
                        "a matrix whose rows are only multiples of " + std::to_string(*bytes) +
                            " bytes keeps tensor-core products from 16-byte loads");
  one.family = "rows of " + std::to_string(*bytes) + " bytes";
  one.because = {{"alignment", static_cast<double>(*bytes), "B", "kernel name"}};
  set_alignment_gain(view, *bytes, one);
  auto const multiple = std::to_string(full_alignment_bytes / product->element_bytes);
  one.to_do = "Pad the dimension that is no multiple of " + multiple +
              " elements, often a vocabulary or a number of classes (50257 to 50304), to one of "
              "64; the library then takes an aligned kernel.";
  found.push_back(std::move(one));
}

void look_at_idle_tensor_cores(kernel_view const& view, std::vector<finding>& found) {
  auto const product = parse_product(view.kernel.name);
  if (!product || view.share_of(dram_roof) >= memory_bound) return;
  auto const test = unused_tensor_test(view, *product);
  if (!test) return;
  auto const there = on_tensor_cores(view, *test);
  if (!there || there->ns >= view.time()) return;
  auto one = finding_on(view, "tensor_idle", kernel_claim::other_work,
                        "a product that tensor cores could compute runs on CUDA cores");
  one.because = {{"tensor cores active", view.tensor_active(), "",
                  source_text(view.kernel.figures.from.tensor)},
                 view.achieved(),
                 {"tensor-core peak", view.peak(*test).value_or(0), "FLOP/s", "measured peak"}};
  one.gain = founded(view.time() - there->ns);
  one.arithmetic = there->arithmetic + "; low: half of it";
  one.changes_results = true;
  one.to_do =
      "Use a product of cuBLAS, cuDNN or CUTLASS for tensor cores, with sizes and pointers "
      "that are multiples of 16 bytes.";
  found.push_back(std::move(one));
}

void look_at_fp32_products(kernel_view const& view, std::vector<finding>& found) {
  auto const product = parse_product(view.kernel.name);
  auto const has_tf32 = view.gpu != nullptr && view.gpu->record.compute_major >= 8;
  if (!product || !has_tf32 || product->on_tensor_cores || product->half_precision ||
      view.share_of(dram_roof) >= memory_bound || !is_fp32_product(view, *product))
    return;
  auto one = finding_on(view, "fp32_products", kernel_claim::other_work,
                        "a product in FP32 runs on CUDA cores; tensor cores compute it as TF32");
  set_fp32_gain(view, one);
  if (one.gain.high_ns <= 0) return;
  one.family = "FP32";
  one.changes_results = true;
  one.to_do =
      "If 10 bits of mantissa are enough, allow TF32 "
      "(torch.set_float32_matmul_precision(\"high\"), CUBLAS_TF32_TENSOR_OP_MATH), or use "
      "BF16. If FP32 is meant: --skip-rule fp32_products.";
  found.push_back(std::move(one));
}

void look_at_small_batch(run_facts const& facts, std::vector<finding>& found) {
  auto const views = kernels_worth_a_look(facts, least_time_of_many);
  kernel_view const* longest = nullptr;
  double time = 0;
  std::uint64_t launches = 0;
  for (auto const& view : views) {
    if (!is_small_batch(view)) continue;
    time += view.time();
    launches += view.kernel.launches;
    if (longest == nullptr || view.time() > longest->time()) longest = &view;
  }
  if (longest == nullptr || time < small_batch_window_share * facts.all_windows_ns()) return;
  auto const ridge =
      *longest->peak(key_of(*longest->tensor_precision())) / *longest->peak("dram_read");
  auto const intensity = *longest->kernel.figures.intensity;
  auto one = finding_on(*longest, "small_batch", kernel_claim::none,
                        "products wait for their weights from DRAM: the batch is small");
  one.kernel_line.reset();
  one.level = severity::info;
  one.instances = launches;
  one.because = {{"FLOP per byte", intensity, "", longest->source_of_flops()},
                 {"FLOP per byte at the ridge", ridge, "", "measured peak"},
                 {"of the time", time / facts.all_windows_ns(), "", "traced"}};
  one.to_do = "A batch up to " + as_figure(ridge / intensity) +
              " times as large takes about the same time in these kernels; narrower weights make "
              "them shorter.";
  one.arithmetic = "no gain in time: ridge / intensity = " + as_figure(ridge) + " / " +
                   as_figure(intensity) + " times the batch in the same time";
  found.push_back(std::move(one));
}

}  // namespace gpuprof::host::advice
