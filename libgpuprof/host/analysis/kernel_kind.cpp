// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/kernel_kind.hpp"

#include "model/kernel_name.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>

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
                           looks_up = "looks up rows of a table", moves_only = "moves data";

/// The first word that a name has decides, so exceptions stand before what they are excepted from.
constexpr kind_word words[] = {
    // what XLA runs while it tries kernels
    {"RedzoneAllocator", tuning},
    {"DelayKernel", tuning},
    {"xla_fp_comparison", tuning},
    {"xla_int_comparison", tuning},
    {"RepeatBuffer", tuning},
    // transforms; cuDNN computes convolutions with some
    {"fft2d_r2c", convolution},
    {"fft2d_c2r", convolution},
    {"_fft", fft},
    {"regular_fft", fft},
    {"vector_fft", fft},
    {"bluestein", fft},
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
    {"feistel", random},
    {"poisson_cuda", random},
    {"bernoulli_", random},
    {"randperm", random},
    // products, before the fusions around them
    {"flash", attention},
    {"fmha", attention},
    {"sdpa", attention},
    {"ttention", attention},
    // recommendation models
    {"embedding_backward_codegen", optimizer},  // with the optimizer in it
    {"codegen_grad_indice", reduction},
    {"permute_", moves, lays_out},
    {"linearize_index", elementwise},
    {"bucketize", moves, scatters},
    {"offsets_range", moves, fills},
    {"FP8rowwise", moves, casts},
    {"FP8_quantize", moves, casts},
    {"hfp8", moves, casts},
    {"_attn", attention},
    {"attn_", attention},
    {"compute_dot_do_o", attention},
    // cuSOLVER and MAGMA
    {"getrf", factorization},
    {"getrs", factorization},
    {"potrf", factorization},
    {"potrs", factorization},
    {"geqr", factorization},
    {"gebrd", factorization},
    {"gebd2", factorization},
    {"labrd", factorization},
    {"sytrd", factorization},
    {"syev", factorization},
    {"stedc", factorization},
    {"laed", factorization},
    {"larf_", factorization},
    {"larfg", factorization},
    {"larft", factorization},
    {"larfb", factorization},
    {"lasr_", factorization},
    {"gesvd", factorization},
    {"svd_", factorization},
    {"orgqr", factorization},
    {"ormqr", factorization},
    {"ormtr", factorization},
    {"offA_stage", factorization},
    {"ipiv", factorization},
    {"create_pivot", factorization},
    {"_pivots", factorization},
    {"ouseholder", factorization},
    {"trsm", factorization},
    {"laswp", moves, copies},
    {"lacpy", moves, copies},
    {"batch_eye", moves, fills},
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
    {"scudnn_", convolution},
    {"hcudnn_", convolution},
    {"884cudnn", convolution},
    {"816cudnn", convolution},
    {"OffsetsKernel", convolution},
    {"Cijk_", product},  // of AMD's Tensile
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
    {"bdmm", product},
    {"trmm", product},
    {"symm_kernel", product},
    {"syrk", product},
    {"syr2k", product},
    {"syherk", product},
    {"csr_partition", product},
    {"csrmv", product},
    {"csrmm", product},
    {"spmv", product},
    {"spmm", product},
    {"mul_mat", product},  // of llama.cpp
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
    {"KthValue", sort, selects},
    {"searchsorted", sort, selects},
    {"sortI32", sort, sorts},
    {"kthvalue", sort, selects},
    {"DeviceSelect", sort, selects},
    {"DeviceCompact", sort, selects},
    {"nonzero", sort, selects},
    {"write_indices<", sort, selects},
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
    {"setTensor", moves, fills},
    {"im2col", moves, lays_out},
    {"col2im", moves, scatters},
    {"reshape_and_cache", moves, copies},
    {"pad_fusion", moves, copies},
    {"_pad1d", moves, copies},
    {"_pad2d", moves, copies},
    {"_pad3d", moves, copies},
    {"recat_copy", moves, copies},
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
    {"cupy_take", moves, gathers},
    {"cupy_getitem", moves, gathers},
    {"wrapped_iota", moves, fills},
    {"wrapped_reverse", moves, copies},
    {"copy_fusion", moves, copies},
    {"copy_kernel", moves, copies},
    {"CopyKernel", moves, copies},
    {"DeviceCopy", moves, copies},
    {"compute_grad_weight", moves, scatters},
    // sums and normalizations
    {"cross_device_reduce", communication},
    {"_all_reduce_kernel", communication},
    {"istogram", reduction},
    {"EmbeddingBag", reduction},
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
    {"cupy_any", reduction},
    {"cupy_all", reduction},
    {"cupy_cub", reduction},
    {"cupy_bsum", reduction},
    {"cupy_sum", reduction},
    {"cupy_maximum", elementwise},
    {"cupy_minimum", elementwise},
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
    {"Pointwise", elementwise},
    {"DeviceTransform", elementwise},
    {"linear_combination", elementwise},
    {"scal_kernel", elementwise},
    {"scalePackedTensor", elementwise},
    {"epilogue::impl", elementwise},
    {"geam", elementwise},
    {"native::cross_kernel", elementwise},
    {"bounds_check", elementwise},
    {"rot_kernel", elementwise},
    {"axpy", elementwise},
    {"grid_sampler", elementwise},
    {"rope_", elementwise},
    {"FusedParams", elementwise},
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

/// True if the name has the word, but not as a part of "fbgemm_gpu", a namespace.
bool says(std::string_view name, std::string_view word) noexcept {
  constexpr std::string_view not_a_product = "fbgemm";
  for (auto at = name.find(word); at != nowhere; at = name.find(word, at + 1))
    if (word != "gemm" || at < 2 || !name.substr(at - 2).starts_with(not_a_product)) return true;
  return false;
}

/// Without the list of parameters, whose types may have names of other kinds.
std::string_view without_parameters(std::string_view name) noexcept {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && depth > 0) --depth;
    if (name[i] != '(' || depth > 0) continue;
    if (!name.substr(i).starts_with(anonymous)) return name.substr(0, i);
    i += anonymous.size() - 1;
  }
  return name;
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

/// The same of FP32.
bool is_of_floats(std::string_view name) noexcept {
  return (has(name, "<float") || has(name, "(float")) && !has(name, "BFloat16") &&
         !has(name, "Half") && !has(name, "<double") && !has(name, "(double");
}

/// PyTorch copies, casts and changes layouts with kernels of one name.
std::string_view what_copies(std::string_view name) noexcept {
  if (!has(name, "direct_copy_kernel")) return casts;  // bfloat16_copy_kernel_cuda and others
  if (has(name, "WithCast")) return casts;
  return has(name, "vectorized") ? copies : lays_out;
}

constexpr std::string_view of_inductor = "triton_";

/// Templates are products, pointwise kernels may only move. A template is called by its own name
/// only while Inductor tries its variants. Nothing: the name is not one that Inductor makes.
std::optional<kernel_work> work_of_inductor(std::string_view name) {
  if (!name.starts_with(of_inductor)) return std::nullopt;
  name.remove_prefix(of_inductor.size());
  constexpr std::string_view tried[] = {"mm",          "bmm",           "addmm",         "baddbmm",
                                        "convolution", "convolution2d", "flex_attention"};
  if (std::find(std::begin(tried), std::end(tried), name) != std::end(tried))
    return kernel_work{.kind = tuning};
  constexpr std::string_view pointwise = "poi_fused_";
  if (name.starts_with("tem_")) return kernel_work{.kind = product};
  if (name.starts_with("red_") || name.starts_with("per_")) return kernel_work{.kind = reduction};
  if (!has(name, "_fused")) return std::nullopt;
  if (!name.starts_with(pointwise) || !fuses_only_moves(name.substr(pointwise.size())))
    return kernel_work{.kind = elementwise};
  return kernel_work{.kind = moves, .does = has(name, "cat") ? joins : copies};
}

}  // namespace

kernel_work work_of(std::string_view whole_name) {
  auto const name = without_parameters(whole_name);
  kernel_work made;
  if (is_named_as_collective(name)) {
    made.kind = communication;
    return made;
  }
  if (auto const told = work_of_inductor(name)) return *told;
  auto const* const found = std::find_if(std::begin(words), std::end(words),
                                         [&](auto const& one) { return says(name, one.word); });
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
  made.is_fp32 = made.kind == elementwise && is_of_floats(name);
  return made;
}

kernel_work work_of(std::string_view name, kernel_code const* code) {
  auto made = work_of(name);
  if (made.kind != other || code == nullptr || !code->is_complete || !code->tells_kinds)
    return made;
  using enum instruction_class;
  auto const& holds = code->holds;
  auto const computes =
      holds.has(fp64) || holds.has(fp32) || holds.has(fp16) || holds.has(float_other);
  if (holds.tensor() != instruction_set())
    made.kind = product;
  else if (!computes)
    made.kind = holds.has(shuffle) ? other : moves;
  else if (holds.has(shuffle))
    made.kind = reduction;
  else
    made.kind = arithmetic;
  made.is_told_by_code = true;
  made.adds_by_atomics = holds.has(add_in_memory);
  if (made.kind == moves) made.does = made.adds_by_atomics ? scatters : moves_only;
  return made;
}

std::string_view name_of(kernel_kind kind) noexcept {
  constexpr std::array<std::string_view, kernel_kind_count> names = {
      "product",       "convolution",   "attention", "elementwise",     "arithmetic",
      "reduction",     "moves only",    "random",    "sort and select", "optimizer",
      "communication", "factorization", "FFT",       "library tuning",  "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view key_of(kernel_kind kind) noexcept {
  switch (kind) {
    case moves:
      return "moves";
    case sort:
      return "sort";
    case fft:
      return "fft";
    case tuning:
      return "tuning";
    default:
      return name_of(kind);
  }
}

}  // namespace gpuprof::host
