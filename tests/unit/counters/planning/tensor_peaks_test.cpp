// SPDX-License-Identifier: Apache-2.0
// Compares the operations per tensor cycle that reports use with NVIDIA's own peaks.
#include "host/analysis/operation_rates.hpp"
#include "support/real_cupti.hpp"

#include <nvperf_cuda_host.h>

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <string>
#include <vector>

using namespace gpuprof;
using gpuprof::test::real_cupti;

namespace {

// These types are of older headers; libnvperf_host still has the functions.
struct image_options {
  std::uint8_t const* prefix;
  std::size_t prefix_size;
  std::uint32_t ranges, nodes, name_length;
};
constexpr std::size_t options_size = offsetof(image_options, name_length) + sizeof(std::uint32_t);
struct image_size_params {
  std::size_t struct_size;
  void* priv;
  std::size_t options_size;
  image_options const* options;
  std::size_t size;
};
struct image_params {
  std::size_t struct_size;
  void* priv;
  std::size_t options_size;
  image_options const* options;
  std::size_t size;
  std::uint8_t* image;
};

#define PARAMS(function, name) \
  function##_Params name{};    \
  name.structSize = function##_Params_STRUCT_SIZE
#define CALL(function, params) call(#function, params)

/// libnvperf_host evaluates the peaks of a chip without a GPU, on a counter image without ranges.
class nvidia_peaks {
 public:
  nvidia_peaks(std::string const& cupti_path, char const* chip) : chip_(chip) {
    auto const folder = cupti_path.substr(0, cupti_path.rfind('/') + 1);
    library_ = dlopen((folder + "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_ != nullptr);
    make_evaluator();
    make_image();
  }

  nvidia_peaks(nvidia_peaks const&) = delete;
  ~nvidia_peaks() {
    PARAMS(NVPW_MetricsEvaluator_Destroy, ended);
    ended.pMetricsEvaluator = evaluator_;
    CALL(NVPW_MetricsEvaluator_Destroy, ended);
  }

  /// One SM: its highest count in a cycle. 0 if the chip has no such counter.
  double of(std::string const& counter) {
    auto const metric = counter + ".avg.peak_sustained";
    NVPW_MetricEvalRequest request{};
    PARAMS(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, named);
    named.pMetricsEvaluator = evaluator_;
    named.pMetricName = metric.c_str();
    named.pMetricEvalRequest = &request;
    named.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    if (CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, named) != 0) return 0;
    double value = 0;
    PARAMS(NVPW_MetricsEvaluator_EvaluateToGpuValues, evaluated);
    evaluated.pMetricsEvaluator = evaluator_;
    evaluated.pMetricEvalRequests = &request;
    evaluated.numMetricEvalRequests = 1;
    evaluated.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    evaluated.metricEvalRequestStrideSize = sizeof request;
    evaluated.pCounterDataImage = image();
    evaluated.counterDataImageSize = image_size_;
    evaluated.pMetricValues = &value;
    CHECK(CALL(NVPW_MetricsEvaluator_EvaluateToGpuValues, evaluated) == 0);
    return value;
  }

 private:
  template <class Params>
  NVPA_Status call(char const* function, Params& params) {
    auto* const at = reinterpret_cast<NVPA_Status (*)(Params*)>(dlsym(library_, function));
    REQUIRE(at != nullptr);
    return at(&params);
  }
  std::uint8_t* image() { return reinterpret_cast<std::uint8_t*>(image_.data()); }

  void make_evaluator() {
    PARAMS(NVPW_InitializeHost, start);
    REQUIRE(CALL(NVPW_InitializeHost, start) == 0);
    PARAMS(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize, size);
    size.pChipName = chip_;
    REQUIRE(CALL(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize, size) == 0);
    scratch_.resize(size.scratchBufferSize);
    PARAMS(NVPW_CUDA_MetricsEvaluator_Initialize, made);
    made.pScratchBuffer = scratch_.data();
    made.scratchBufferSize = scratch_.size();
    made.pChipName = chip_;
    REQUIRE(CALL(NVPW_CUDA_MetricsEvaluator_Initialize, made) == 0);
    evaluator_ = made.pMetricsEvaluator;
  }

  void make_image() {
    PARAMS(NVPW_CUDA_CounterDataBuilder_Create, builder);
    builder.pChipName = chip_;
    REQUIRE(CALL(NVPW_CUDA_CounterDataBuilder_Create, builder) == 0);
    PARAMS(NVPW_CounterDataBuilder_GetCounterDataPrefix, prefix);
    prefix.pCounterDataBuilder = builder.pCounterDataBuilder;
    REQUIRE(CALL(NVPW_CounterDataBuilder_GetCounterDataPrefix, prefix) == 0);
    std::vector<std::uint64_t> bytes(prefix.bytesCopied / 8 + 1);  // aligned
    prefix.pBuffer = reinterpret_cast<std::uint8_t*>(bytes.data());
    prefix.bytesAllocated = prefix.bytesCopied;
    REQUIRE(CALL(NVPW_CounterDataBuilder_GetCounterDataPrefix, prefix) == 0);
    PARAMS(NVPW_CounterDataBuilder_Destroy, ended);
    ended.pCounterDataBuilder = builder.pCounterDataBuilder;
    REQUIRE(CALL(NVPW_CounterDataBuilder_Destroy, ended) == 0);
    image_options const options{prefix.pBuffer, prefix.bytesCopied, 1, 1, 64};
    image_size_params size{sizeof size, nullptr, options_size, &options, 0};
    REQUIRE(CALL(NVPW_CUDA_Profiler_CounterDataImage_CalculateSize, size) == 0);
    image_size_ = size.size;
    image_.resize(size.size / 8 + 1);
    image_params made{sizeof made, nullptr, options_size, &options, size.size, image()};
    REQUIRE(CALL(NVPW_CUDA_Profiler_CounterDataImage_Initialize, made) == 0);
    PARAMS(NVPW_MetricsEvaluator_SetDeviceAttributes, attributes);
    attributes.pMetricsEvaluator = evaluator_;
    attributes.pCounterDataImage = image();
    attributes.counterDataImageSize = size.size;
    REQUIRE(CALL(NVPW_MetricsEvaluator_SetDeviceAttributes, attributes) == 0);
  }

  char const* chip_;
  void* library_ = nullptr;
  NVPW_MetricsEvaluator* evaluator_ = nullptr;
  std::vector<std::uint8_t> scratch_;
  std::vector<std::uint64_t> image_;
  std::size_t image_size_ = 0;
};

struct named_class {
  instruction_class what{};
  std::vector<std::string> types;  // of sm__ops_path_tensor_*; the first that the chip has counts
};

std::vector<named_class> classes() {
  using enum instruction_class;
  return {{mma_fp16, {"op_hmma_src_fp16_dst_fp32", "src_fp16_dst_fp32"}},
          {mma_bf16, {"op_hmma_src_bf16_dst_fp32", "src_bf16_dst_fp32"}},
          {mma_tf32, {"op_hmma_src_tf32_dst_fp32", "src_tf32_dst_fp32"}},
          {mma_int8, {"op_imma_src_int8", "src_int8"}},
          {mma_fp8, {"src_fp8_dst_fp32", "src_fp8"}},
          {mma_fp6, {"src_fp4_fp6_dst_fp32"}},
          {mma_fp4, {"src_fp4_dst_fp32"}},
          {wgmma_fp16, {"op_hgmma_src_fp16"}},
          {wgmma_bf16, {"op_hgmma_src_bf16_dst_fp32"}},
          {wgmma_tf32, {"op_hgmma_src_tf32_dst_fp32"}},
          {wgmma_int8, {"op_igmma_src_int8"}},
          {wgmma_fp8, {"src_fp8"}}};
}

double dense_peak(nvidia_peaks& peaks, std::vector<std::string> const& types) {
  for (auto const& type : types)
    if (auto const peak = peaks.of("sm__ops_path_tensor_" + type + "_sparsity_off"); peak > 0)
      return peak;
  return 0;
}

constexpr char const* chips[] = {"GA100", "GA102", "GA103", "GA104", "GA106", "GA107", "GH100",
                                 "AD102", "AD103", "AD104", "AD106", "AD107", "GB100", "GB102",
                                 "GB110", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"};

struct comparison {
  int measured = 0, planned = 0;
  /// `peak`: operations in a cycle of the SM, whose four tensor pipes are all active then.
  void add(char const* chip, instruction_class what, double peak) {
    kernel_code const code{80, what, true};
    auto const rate = host::rate_by_code(&code, {chip, 1});
    if (!rate || peak == 0) return;
    INFO(chip << ", class " << static_cast<int>(what));
    CHECK(rate->operations == Approx(peak / 4));
    ++(rate->bias == 0 ? measured : planned);
  }
};

}  // namespace

// The rates of GH100 were also measured. If they equal NVIDIA's peaks, those may be used for chips
// that nobody measured.
TEST_CASE("operations per tensor cycle are NVIDIA's peaks, measured or planned") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr || !test::is_the_known_release(*cupti)) return;
  comparison compared;
  for (auto const* const chip : chips) {
    nvidia_peaks peaks(cupti->path, chip);
    CHECK(peaks.of("sm__pipe_tensor_cycles_active") == 4);
    for (auto const& one : classes()) compared.add(chip, one.what, dense_peak(peaks, one.types));
    auto const has_small_ones_only = chip == std::string_view("GA100");
    compared.add(
        chip,
        has_small_ones_only ? instruction_class::mma_fp64_m8n8k4 : instruction_class::mma_fp64,
        peaks.of("sm__ops_path_tensor_src_fp64"));
  }
  CHECK(compared.measured == 10);
  CHECK(compared.planned == 106);
}

TEST_CASE("operations per tensor cycle of short forms are NVIDIA's peaks of instructions") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr || !test::is_the_known_release(*cupti)) return;
  comparison compared;
  for (auto const* const chip : chips) {
    nvidia_peaks peaks(cupti->path, chip);
    auto const instructions = [&](char const* operation) {
      return peaks.of(std::string("sm__inst_executed_pipe_tensor_op_") + operation);
    };
    using enum instruction_class;
    // 2 M N K
    compared.add(chip, mma_fp64_m8n8k4, instructions("dmma") * 2 * 8 * 8 * 4);
    if (chip == std::string_view("GH100")) continue;  // HMMA counts HFMA2.MMA, too
    compared.add(chip, mma_fp16_short, instructions("hmma") * 2 * 16 * 8 * 8);
    compared.add(chip, mma_bf16_short, instructions("hmma") * 2 * 16 * 8 * 8);
    compared.add(chip, mma_tf32_short, instructions("hmma") * 2 * 16 * 8 * 4);
    compared.add(chip, mma_int8_short, instructions("imma") * 2 * 8 * 8 * 16);
  }
  CHECK(compared.measured == 1);
  CHECK(compared.planned == 41);
}
