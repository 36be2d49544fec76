// SPDX-License-Identifier: Apache-2.0
// Which kernels pass: by name, by regular expression, by place in the order of launches.
#include "guest/options/kernel_filter.hpp"

#include "support/catch.hpp"

#include <climits>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

std::unique_ptr<kernel_filter> filter_of(std::vector<kernel_pattern> names, std::uint64_t skip = 0,
                                         std::uint64_t count = 0) {
  settings options;
  options.kernel_names = std::move(names);
  options.launch_skip = skip;
  options.launch_count = count;
  auto made = kernel_filter::make(options);
  REQUIRE(made);
  return std::move(*made);
}

constexpr auto gemm = "_ZN3lib4gemmIfEEvPT_i";  // void lib::gemm<float>(float*, int)

}  // namespace

TEST_CASE("without options every kernel passes") {
  auto const filter = filter_of({});
  CHECK(filter->passes_all());
  CHECK_FALSE(filter->has_names());
  CHECK(filter->name_matches(gemm));
  CHECK(filter->selects_launch(gemm));
}

TEST_CASE("a plain name must equal the mangled, the demangled or the base name") {
  CHECK(filter_of({{gemm, false}})->name_matches(gemm));
  CHECK(filter_of({{"void lib::gemm<float>(float*, int)", false}})->name_matches(gemm));
  CHECK(filter_of({{"gemm", false}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"gem", false}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"lib", false}})->name_matches(gemm));
}

TEST_CASE("a regular expression may match anywhere in either form of the name") {
  CHECK(filter_of({{"ge.m", true}})->name_matches(gemm));
  CHECK(filter_of({{"gemm<float>", true}})->name_matches(gemm));
  CHECK(filter_of({{"^gemm$", true}})->name_matches(gemm));
  CHECK(filter_of({{"^_ZN3lib", true}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"gemm<double>", true}})->name_matches(gemm));
}

TEST_CASE("kernels of all usual collectives are skipped, and reductions on one GPU are not") {
  auto const made = kernel_filter::make(metrics_options{}.skip);
  REQUIRE(made);
  auto const& skipped = **made;
  for (auto const* const waits :
       {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void sglang::cross_device_reduce_2stage<__half, 4>(sglang::RankData*)",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8>(AllReduceParams)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>(P)",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(void*)",
        "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float, 8>(float**)",
        "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)",
        "void deep_ep::internode_ll::combine<false, 7168>(void*)",
        "void mscclpp::executionKernel<__half, mscclpp::LL16Packet>(int, __half*)",
        "moeA2ADispatchKernel",
        "void c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "nvshmemi_transfer_rma_kernel",
        "xla_all_to_all", "userbuffers_fp16_sum_gpu_mc"}) {
    INFO(waits);
    CHECK(skipped.name_matches(waits));
  }
  for (auto const* const alone :
       {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)",
        "void cub::DeviceReduceSingleTileKernel<cub::Policy, float*>(float*)",
        "void at::native::vectorized_gather_kernel<16, long>(char*, char*)",
        "void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)", "SmallReduction",
        "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "triton_red_fused_sum_0"}) {
    INFO(alone);
    CHECK_FALSE(skipped.name_matches(alone));
  }
}

TEST_CASE("kernels around which counters are never read are matched in upper and lower case") {
  auto const skipped = kernel_filter::make(metrics_options{}.skip);
  REQUIRE(skipped);
  CHECK((*skipped)->has_names());
  CHECK((*skipped)->selects_launch("_Z42ncclDevKernel_AllReduce_Sum_f32_RING_LLv"));
  CHECK((*skipped)->selects_launch("_Z12run_NVSHMEM_v"));
  CHECK_FALSE((*skipped)->selects_launch(gemm));
  auto const plain = kernel_filter::make(std::vector<kernel_pattern>{{"GEMM"}, {"GEMM", true}});
  REQUIRE(plain);
  CHECK_FALSE((*plain)->name_matches(gemm));
  auto const wrong = kernel_filter::make(std::vector<kernel_pattern>{{"a)(b", true, true}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.message().find("regex:a)(b is not a regular expression") == 0);
}

TEST_CASE("a regular expression cannot affect the text around it") {
  CHECK(filter_of({{"double|gemm", true}})->name_matches(gemm));
  CHECK(filter_of({{"^reduce$|^gemm$", true}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"^lib::gemm", true}})->name_matches(gemm));  // "void" comes first
  for (auto const* const wrong : {"a)(b", "a)(?:b", "(a)\\1", "[z-a]"}) {
    settings options;
    options.kernel_names = {{wrong, true}};
    INFO(wrong);
    CHECK_FALSE(kernel_filter::make(options));
  }
}

namespace {

/// Runs `body` on a thread with the smallest stack that programs are known to give theirs.
void on_a_small_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(
              &thread, &attributes,
              [](void* work) -> void* {
                (*static_cast<std::function<void()>*>(work))();
                return nullptr;
              },
              &body) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("a name of 100 kB is matched from a thread with a stack of 64 KiB") {
  auto const filter = filter_of({{".*gemm.*", true}});
  auto const wanted = "cutlass_gemm_" + std::string(100 << 10, 'x');
  auto const other = std::string(100 << 10, 'g');
  std::string late(100 << 10, 'x');  // beyond the part that counts
  late.append("gemm");
  bool found_wanted = false, found_other = true, found_late = true;
  on_a_small_stack([&] {
    found_wanted = filter->selects_launch(wanted.c_str());
    found_other = filter->selects_launch(other.c_str());
    found_late = filter->selects_launch(late.c_str());
  });
  CHECK(found_wanted);
  CHECK_FALSE(found_other);
  CHECK_FALSE(found_late);
}

TEST_CASE("a mangled name with thousands of arguments is demangled away from a small stack") {
  auto const filter = filter_of({{"^gemm$", true}});
  std::string mangled = "_Z4gemmI";
  for (int i = 0; i < 300; ++i) mangled += "S_IS0_";
  bool selected = true;
  on_a_small_stack([&] { selected = filter->selects_launch(mangled.c_str()); });
  CHECK_FALSE(selected);  // not a name a demangler knows: it stands for itself
  bool nested = false;
  std::string deep = "_Z4gemmI";
  for (int i = 0; i < 200; ++i) deep += "P";
  deep += "fEvv";
  on_a_small_stack([&] { nested = filter->selects_launch(deep.c_str()); });
  CHECK(nested);
}

TEST_CASE("an expression that defeats backtracking takes no time to speak of") {
  auto const filter = filter_of({{"(a*)*(a*)*b$", true}});
  auto const name = std::string(4000, 'a');
  auto const before = std::chrono::steady_clock::now();
  CHECK_FALSE(filter->name_matches(name));
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(20));
}

TEST_CASE("a matcher that does not answer is not waited for again") {
  std::atomic<bool> go_on{false};
  std::atomic<int> asked{0};
  name_matcher slow([&](std::string_view) {
    ++asked;
    while (!go_on) std::this_thread::yield();
    return false;
  });
  CHECK(slow.ask("first") == std::nullopt);
  CHECK(slow.ask("second") == std::nullopt);  // still at the first
  CHECK(asked == 1);
  go_on = true;
  CHECK(slow.ask("third") == false);
  CHECK(asked == 2);
}

TEST_CASE("a matcher that throws has no answer, and answers the next question") {
  name_matcher failing([](std::string_view name) -> bool {
    if (name == "bad") throw std::bad_alloc();
    return true;
  });
  CHECK(failing.ask("bad") == std::nullopt);
  CHECK(failing.ask("good") == true);
}

TEST_CASE("one matching pattern of several is enough") {
  auto const filter = filter_of({{"nothing", false}, {"^copy", true}, {"gemm", false}});
  CHECK(filter->has_names());
  CHECK(filter->name_matches(gemm));
  CHECK_FALSE(filter->name_matches("reduce"));
}

TEST_CASE("a bad regular expression is reported with the consequence") {
  settings options;
  options.kernel_names = {{"gemm(", true}};
  auto const made = kernel_filter::make(options);
  REQUIRE(!made);
  CHECK(made.message().find("--kernel-name regex:gemm( is not a regular expression") == 0);
  CHECK(made.message().find("all kernels are traced") != std::string::npos);
}

TEST_CASE("skip and count select a stretch of the matching launches") {
  auto const filter = filter_of({{"gemm", false}}, 2, 3);
  std::string passed;
  for (int i = 0; i < 8; ++i) {
    CHECK_FALSE(filter->selects_launch("reduce"));
    passed += filter->selects_launch(gemm) ? 'y' : 'n';
  }
  CHECK(passed == "nnyyynnn");
}

TEST_CASE("skip only, count only, and a count of the largest number") {
  CHECK_FALSE(filter_of({}, 1, 0)->selects_launch(gemm));
  auto const one = filter_of({}, 0, 1);
  CHECK(one->selects_launch(gemm));
  CHECK_FALSE(one->selects_launch(gemm));
  auto const many = filter_of({}, 1, ~std::uint64_t{0});
  CHECK_FALSE(many->selects_launch(gemm));
  CHECK(many->selects_launch(gemm));
  CHECK_FALSE(one->passes_all());
}

TEST_CASE("a launch without a name passes: better a kernel too many") {
  CHECK(filter_of({{"gemm", false}})->selects_launch(nullptr));
}

TEST_CASE("another name at the same address is matched again") {
  auto const filter = filter_of({{"gemm", false}});
  char name[16] = "gemm";
  CHECK(filter->selects_launch(name));
  CHECK(filter->selects_launch(name));
  std::strcpy(name, "reduce");
  CHECK_FALSE(filter->selects_launch(name));
  std::strcpy(name, "gemm");
  CHECK(filter->selects_launch(name));
}

TEST_CASE(
    "another name at the same address that begins and ends in the same way is matched again") {
  constexpr char const* wanted = "_ZN2at6native15vector_additionEPf";
  constexpr char const* other = "_ZN2at6native15scalar_additionEPf";
  auto const filter = filter_of({{wanted, false}});
  char name[64];
  for (auto const* const text : {wanted, other, wanted, other}) {
    std::strcpy(name, text);
    CHECK(filter->selects_launch(name) == (text == wanted));
  }
}

TEST_CASE("each filter has its own answers") {
  CHECK(filter_of({{"gemm", false}})->selects_launch(gemm));
  CHECK_FALSE(filter_of({{"reduce", false}})->selects_launch(gemm));
}

TEST_CASE("a name is matched once, not at each launch") {
  // 300 names share 1024 places; whether remembered or found anew, each answer is right.
  auto const filter = filter_of({{"[02468]$", true}});
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("kernel_number_" + std::to_string(i));
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 300; ++i) CHECK(filter->selects_launch(names[i].c_str()) == (i % 2 == 0));
  }
}

TEST_CASE("many threads select exactly the requested number of launches") {
  auto const filter = filter_of({{"gemm", false}}, 100, 250);
  std::atomic<int> selected{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (filter->selects_launch(gemm)) ++selected;
        if (filter->selects_launch("reduce")) ++selected;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(selected == 250);
}
