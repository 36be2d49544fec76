// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/kernel_kind.hpp"

#include "model/kernel_name.hpp"

#include <algorithm>
#include <initializer_list>

namespace gpuprof::host {
namespace {

using enum kernel_kind;

constexpr auto nowhere = std::string_view::npos;

struct kind_word {
  std::string_view word;
  kernel_kind kind;
  std::string_view does = {};
};

constexpr std::string_view lays_out = "changes the layout of tensors", casts = "converts types",
                           copies = "copies tensors", joins = "concatenates tensors",
                           gathers = "gathers elements", scatters = "scatters elements",
                           fills = "fills tensors", sorts = "sorts", selects = "selects elements",
                           looks_up = "looks up rows of a table";

/// The first word that a name has decides, so exceptions stand before what they are excepted from.
constexpr kind_word words[] = {
    // layouts that libraries change around their products
    {"nchwToNhwc", moves, lays_out},
    {"nhwcToNchw", moves, lays_out},
    {"nhwcAddPadding", moves, lays_out},
    {"tensorTransform", moves, lays_out},
    {"convertTensor", moves, lays_out},
    {"convert_dq_to_16bits", attention},
    {"lementWise", elementwise},
    {"elemWise", elementwise},
    {"dropout", elementwise},
    // random numbers, before "normal" is taken for a norm
    {"distribution_", random},
    {"curand", random},
    {"hilox", random},
    {"threefry", random},
    {"rng_", random},
    {"multinomial", random},
    {"randperm", random},
    // products, before the fusions around them
    {"flash", attention},
    {"fmha", attention},
    {"sdpa", attention},
    {"ttention", attention},
    {"compute_dot_do_o", attention},
    {"convolve", convolution},
    {"onvolution", convolution},
    {"conv1d", convolution},
    {"conv2d", convolution},
    {"conv3d", convolution},
    {"conv_depthwise", convolution},
    {"implicit_gemm", convolution},
    {"fprop", convolution},
    {"dgrad", convolution},
    {"wgrad", convolution},
    {"winograd", convolution},
    {"splitKreduce", product},
    {"nvjet", product},
    {"gemm", product},
    {"Gemm", product},
    {"GEMM", product},
    {"gemv", product},
    {"matmul", product},
    {"_mm_", product},
    {"cutlass", product},
    {"xmma", product},
    {"trsm", product},
    // optimizers
    {"multi_tensor_apply", optimizer},
    {"Adam", optimizer},
    {"adam_", optimizer},
    {"lamb_", optimizer},
    // sort and select
    {"RadixSort", sort, sorts},
    {"radixSort", sort, sorts},
    {"radix_sort", sort, sorts},
    {"MergeSort", sort, sorts},
    {"bitonic", sort, sorts},
    {"Bitonic", sort, sorts},
    {"fill_reverse_indices", sort, sorts},
    {"sort_", sort, sorts},
    {"topk", sort, selects},
    {"TopK", sort, selects},
    {"top_k", sort, selects},
    {"DigitCounts", sort, selects},
    {"DigitCumSum", sort, selects},
    {"WithinKCounts", sort, selects},
    {"KthCounts", sort, selects},
    {"kthvalue", sort, selects},
    {"DeviceSelect", sort, selects},
    {"DeviceCompact", sort, selects},
    {"nonzero", sort, selects},
    {"Unique", sort, selects},
    // moves
    {"CatArray", moves, joins},
    {"concat", moves, joins},
    {"triu_tril", moves, fills},
    {"masked_fill", elementwise},
    {"_copy_kernel_cuda", moves, casts},
    {"scatter_fill", moves, scatters},
    {"scatter_gather", moves, gathers},
    {"indexing_backward", moves, scatters},
    {"index_put", moves, scatters},
    {"embedding_backward", moves, scatters},
    {"index_add", moves, scatters},
    {"indexFunc", moves, scatters},
    {"embedding", moves, looks_up},
    {"indexSelect", moves, looks_up},
    {"scatter", moves, scatters},
    {"Scatter", moves, scatters},
    {"gather", moves, gathers},
    {"Gather", moves, gathers},
    {"index_elementwise", moves, gathers},
    {"index_kernel", moves, gathers},
    {"FillFunctor", moves, fills},
    {"fill", moves, fills},
    {"arange", moves, fills},
    {"elementwise_kernel_with_index", moves, fills},
    {"init_device_workspace", moves, fills},
    {"memset", moves, fills},
    {"transpose", moves, lays_out},
    {"Transpose", moves, lays_out},
    {"repeat_interleave", moves, copies},
    {"roll_cuda_kernel", moves, copies},
    {"flip_kernel", moves, copies},
    {"dynamic_update_slice", moves, copies},
    {"dynamic_slice", moves, copies},
    {"_slice", moves, copies},
    {"convert_fusion", moves, casts},
    {"wrapped_convert", moves, casts},
    {"broadcast", moves, copies},
    {"memcpy", moves, copies},
    {"cupy_copy", moves, copies},
    {"copy_fusion", moves, copies},
    {"copy_kernel", moves, copies},
    {"CopyKernel", moves, copies},
    {"DeviceCopy", moves, copies},
    {"RepeatBuffer", moves, copies},
    {"RedzoneAllocator", moves, fills},
    {"compute_grad_weight", moves, scatters},
    // sums and normalizations
    {"reduce", reduction},
    {"Reduce", reduction},
    {"oftmax", reduction},
    {"oftMax", reduction},
    {"cunn_", reduction},
    {"_norm", reduction},
    {"norm_", reduction},
    {"Norm", reduction},
    {"lpnorm", reduction},
    {"GammaBeta", reduction},
    {"bn_fw", reduction},
    {"bn_bw", reduction},
    {"_loss", reduction},
    {"Scan", reduction},
    {"scan", reduction},
    {"cumsum", reduction},
    {"argmax", reduction},
    {"cupy_sum", reduction},
    {"cupy_max", reduction},
    {"cupy_min", reduction},
    {"cupy_mean", reduction},
    {"pool", reduction},
    {"elford", reduction},
    {"dot_kernel", reduction},
    {"Moments", reduction},
    {"InternalGradients", reduction},
    // arithmetic on elements
    {"elementwise", elementwise},
    {"pointwise", elementwise},
    {"FusedParams", elementwise},
    {"xla_fp_comparison", elementwise},
    {"amp_update_scale", elementwise},
    {"fusion", elementwise},
    {"wrapped_", elementwise},
    {"cupy_", elementwise},
    {"thrust", elementwise},
    {"Functor", elementwise},
    {"for_each", elementwise},
    {"upsample", elementwise},
    {"rotary", elementwise},
    {"relu", elementwise},
    {"gelu", elementwise},
    {"silu", elementwise},
    {"tril", moves, fills},
};

bool has(std::string_view name, std::string_view word) noexcept {
  return name.find(word) != nowhere;
}

/// "_cat_3": true if all operations that Inductor names only move.
bool fuses_only_moves(std::string_view name) noexcept {
  constexpr std::string_view moving[] = {
      "_to_copy", "_unsafe_view", "cat",       "clone",  "copy",     "permute", "view",
      "slice",    "stack",        "transpose", "expand", "zeros",    "full",    "select",
      "ones",     "new_zeros",    "index",     "t",      "unsqueeze"};
  auto found = false;
  while (!name.empty()) {
    if (name.find_first_not_of("0123456789") == nowhere) return found;
    auto const* const word = std::find_if(std::begin(moving), std::end(moving), [&](auto one) {
      return name.starts_with(one) && (name.size() == one.size() || name[one.size()] == '_');
    });
    if (word == std::end(moving)) return false;
    found = true;
    name.remove_prefix(std::min(name.size(), word->size() + 1));
  }
  return found;
}

/// The type of the elements follows the functor, or stands in the list of a lambda's parameters.
bool is_of_doubles(std::string_view name) noexcept {
  return has(name, "<double") || has(name, "(double") ||
         (has(name, ", double") && !has(name, "float") && !has(name, "BFloat16") &&
          !has(name, "Half"));
}

/// PyTorch copies, casts and changes layouts with kernels of one name.
std::string_view what_copies(std::string_view name) noexcept {
  if (!has(name, "direct_copy_kernel")) return casts;  // bfloat16_copy_kernel_cuda and others
  if (has(name, "WithCast")) return casts;
  return has(name, "vectorized") ? copies : lays_out;
}

constexpr std::string_view of_inductor = "triton_";

/// Takes the name behind "triton_": templates are products, pointwise kernels may only move.
kernel_work work_of_inductor(std::string_view name) {
  constexpr std::string_view pointwise = "poi_fused_";
  if (name.starts_with("tem_")) return {.kind = product};
  if (name.starts_with("red_") || name.starts_with("per_")) return {.kind = reduction};
  if (!name.starts_with(pointwise)) return {.kind = elementwise};
  if (!fuses_only_moves(name.substr(pointwise.size()))) return {.kind = elementwise};
  return {.kind = moves, .does = has(name, "cat") ? joins : copies};
}

}  // namespace

kernel_work work_of(std::string_view name) {
  kernel_work made;
  if (is_named_as_collective(name)) {
    made.kind = communication;
    return made;
  }
  if (name.starts_with(of_inductor)) return work_of_inductor(name.substr(of_inductor.size()));
  auto const* const found = std::find_if(std::begin(words), std::end(words),
                                         [&](auto const& one) { return has(name, one.word); });
  if (found == std::end(words)) return made;
  made.kind = found->kind;
  made.does = found->does;
  if (found->word == "_copy_kernel_cuda") made.does = what_copies(name);
  if (found->word == "scatter_gather") {
    made.adds_by_atomics = has(name, "Reduce");
    if (made.adds_by_atomics) made.does = scatters;
  }
  made.adds_by_atomics |= found->does == scatters && (has(name, "add") || has(name, "backward"));
  made.is_of_library = has(name, "ToNhwc") || has(name, "ToNchw") || has(name, "AddPadding") ||
                       has(name, "tensorTransform") || has(name, "convertTensor");
  made.is_fp64 = (made.kind == elementwise || made.kind == reduction || made.kind == moves) &&
                 is_of_doubles(name);
  return made;
}

std::string_view name_of(kernel_kind kind) noexcept {
  constexpr std::array<std::string_view, kernel_kind_count> names = {
      "product", "convolution",     "attention", "elementwise",   "reduction", "moves only",
      "random",  "sort and select", "optimizer", "communication", "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view key_of(kernel_kind kind) noexcept {
  switch (kind) {
    case moves:
      return "moves";
    case sort:
      return "sort";
    default:
      return name_of(kind);
  }
}

}  // namespace gpuprof::host
