// SPDX-License-Identifier: Apache-2.0
// Steps of a made machine with kernels of real names: which launches belong together, and if the
// gain holds what the repaired program saves.
#include "host/advice/work_groups.hpp"

#include "../replay/made_machine.hpp"
#include "made_run.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace gpuprof::host::advice {
namespace {

using replay::act;
using replay::kernel;
using replay::work;

constexpr std::uint32_t recorded_steps_count = 60;

std::string const product = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT",
                  addition =
                      "vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >",
                  scaling = "vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >",
                  doubles =
                      "vectorized_elementwise_kernel<2, at::native::CUDAFunctor_add<double> >",
                  mean = "reduce_kernel<512, 1, at::native::MeanOps<float> >",
                  softmax = "softmax_warp_forward<float, float, float, 6>",
                  loss = "nll_loss_forward_reduce_cuda_kernel_2d<float>",
                  cast = "bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)",
                  concatenation = "CatArrayBatchedCopy<float, unsigned int, 4>",
                  sorting = "DeviceSegmentedRadixSortKernel<float, long>",
                  top_k = "at::native::mbtopk::gatherTopK<float, unsigned int, 2>",
                  scatter_add = "_scatter_gather_elementwise_kernel<128, 8, ReduceAdd>",
                  index_backward = "indexing_backward_kernel<c10::BFloat16, 4>",
                  zeros = "vectorized_elementwise_kernel<2, at::native::FillFunctor<long> >",
                  ones = "_scatter_gather_elementwise_kernel<128, 8, _cuda_scatter_fill>",
                  masking = "elementwise_kernel<128, 4, masked_fill_kernel>",
                  select = "cub::detail::select::DeviceSelectSweepKernel<int>",
                  lerp = "vectorized_elementwise_kernel<4, at::native::lerp_scalar_kernel>";

/// Launches that never wait for the CPU.
std::vector<act> queued(std::initializer_list<std::pair<std::string, std::int64_t>> kernels) {
  std::vector<act> acts;
  for (auto const& [name, ns] : kernels) {
    acts.push_back(work(1000));
    acts.push_back(kernel(name, ns));
  }
  return acts;
}

struct grouped_run {
  explicit grouped_run(std::vector<act> const& step)
      : grouped_run(replay::record(step, recorded_steps_count)) {}
  explicit grouped_run(replay::recorded_steps recorded) : graph(std::move(recorded)) {
    facts = made_run(500 * ms, time_bucket::cpu_work);
    facts.steps.period_ns.assign(recorded_steps_count, 10 * ms);
    facts.run.round_trip = 0;
    facts.run.launch_distance = 3'000;
    facts.there = data::kernels;
    group();
    facts.steps_of_groups = facts.all_steps_of_groups = recorded_steps_count;
  }

  void group() { facts.groups = find_groups(graph.recorded(), facts, {}); }

  std::vector<work_group> groups(group_pattern of) const {
    std::vector<work_group> found;
    std::copy_if(facts.groups.begin(), facts.groups.end(), std::back_inserter(found),
                 [&](auto const& group) { return group.pattern == of; });
    return found;
  }

  /// The finding of a rule; a check fails if there is not exactly one.
  finding only(std::string_view rule) const {
    auto const found = found_by({std::string(rule)});
    REQUIRE(found.size() == 1);
    return found.front();
  }

  std::vector<finding> found_by(std::vector<std::string> rules) const {
    replayable_steps const steps{&graph, recorded_steps_count};
    return give_advice(facts, {.only = std::move(rules), .skipped = {}, .min_gain = 0}, &steps)
        .findings;
  }
  bool is_silent(std::string_view rule) const { return found_by({std::string(rule)}).empty(); }

  double won_by(std::vector<act> const& repaired) const {
    return recorded_steps_count * (replay::step_ns(replay::step_edit(graph)) -
                                   replay::true_step_ns(repaired, recorded_steps_count));
  }

  replay::step_graph graph;
  run_facts facts;
};

void check_contains(finding const& one, double won) {
  CAPTURE(one.what, one.gain.low_ns, won, one.gain.high_ns);
  CHECK(one.is_replayed);
  CHECK(one.gain.low_ns <= won);
  CHECK(won <= one.gain.high_ns);
}

TEST_CASE(
    "elementwise kernels in a row between products are a chain, and one kernel saves the rest") {
  grouped_run const run(queued({{product, 90'000},
                                {addition, 40'000},
                                {scaling, 40'000},
                                {addition, 40'000},
                                {product, 90'000}}));
  auto const chains = run.groups(group_pattern::chain);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].launches == 3 * recorded_steps_count);
  CHECK(chains[0].total_ns == Approx(recorded_steps_count * 120'000.0));
  auto const one = run.only("fusible_chain");
  check_contains(one,
                 run.won_by(queued({{product, 90'000}, {addition, 45'000}, {product, 90'000}})));
  CHECK(one.what.starts_with("3 kernels in a row ("));
}

TEST_CASE("a product or a sort ends a chain, and one kernel alone is none") {
  CHECK(grouped_run(queued({{addition, 40'000}, {product, 90'000}, {scaling, 40'000}}))
            .is_silent("fusible_chain"));
  CHECK(grouped_run(queued({{scaling, 40'000}, {sorting, 50'000}, {mean, 9'000}}))
            .is_silent("fusible_chain"));
  CHECK_FALSE(grouped_run(queued({{scaling, 40'000}, {mean, 9'000}, {product, 90'000}}))
                  .is_silent("fusible_chain"));
}

TEST_CASE("what repeats in a row is fused within one repetition only") {
  std::vector<act> step;
  for (int layer = 0; layer < 6; ++layer)
    for (auto const& one : queued({{mean, 10'000}, {addition, 20'000}, {scaling, 20'000}}))
      step.push_back(one);
  grouped_run const run(step);
  auto const chains = run.groups(group_pattern::chain);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].instances == 6 * recorded_steps_count);
}

TEST_CASE("a softmax between two products is attention in pieces; that of a loss is not") {
  auto const step = queued({{product, 60'000},
                            {scaling, 70'000},
                            {softmax, 80'000},
                            {product, 60'000},
                            {mean, 2'000},
                            {sorting, 5'000}});
  grouped_run const run(step);
  check_contains(run.only("unfused_attention"), run.won_by(queued({{product, 60'000},
                                                                   {softmax, 30'000},
                                                                   {product, 60'000},
                                                                   {mean, 2'000},
                                                                   {sorting, 5'000}})));
  auto with_workspace = replay::record(queued({{product, 60'000},
                                               {scaling, 70'000},
                                               {softmax, 80'000},
                                               {"[CUDA memset]", 1'000},
                                               {product, 60'000}}),
                                       recorded_steps_count);
  for (auto& item : with_workspace.items)
    if (with_workspace.work_names[item.name] == "[CUDA memset]")
      item.kind = replay::work_kind::fill;
  CHECK(grouped_run(std::move(with_workspace)).groups(group_pattern::attention).size() == 1);
  grouped_run const with_loss(
      queued({{product, 60'000}, {softmax, 80'000}, {loss, 9'000}, {product, 60'000}}));
  CHECK(with_loss.groups(group_pattern::attention).empty());
}

TEST_CASE("moves are told with what they do, and at best all of them go") {
  grouped_run const run(queued(
      {{product, 90'000}, {concatenation, 50'000}, {product, 90'000}, {concatenation, 50'000}}));
  auto const one = run.only("data_movement");
  CHECK(one.what.find("concatenates tensors") != std::string::npos);
  CHECK(one.condition == "they can lie side by side from the start");
  check_contains(one, run.won_by(queued({{product, 90'000}, {product, 90'000}})));
}

TEST_CASE("a cast between a product and arithmetic belongs to the chain") {
  grouped_run const run(
      queued({{product, 90'000}, {cast, 20'000}, {addition, 40'000}, {scaling, 40'000}}));
  CHECK(run.groups(group_pattern::moves).empty());
  CHECK(run.groups(group_pattern::chain).front().launches == 3 * recorded_steps_count);
}

TEST_CASE("doubles take half of the bytes as FP32, and come before the chain that they are in") {
  grouped_run const run(
      queued({{doubles, 50'000}, {doubles, 50'000}, {doubles, 50'000}, {product, 10'000}}));
  auto const found = run.found_by({"fusible_chain", "fp64_elementwise"});
  REQUIRE(found.size() == 2);
  CHECK(found[0].rule == "fp64_elementwise");
  check_contains(
      found[0],
      run.won_by(
          queued({{addition, 25'000}, {addition, 25'000}, {addition, 25'000}, {product, 10'000}})));
}

TEST_CASE("short products of one shape in a row could be one") {
  std::vector<act> step;
  for (int head = 0; head < 16; ++head) {
    step.push_back(work(10'000));
    step.push_back(kernel(product, 4'000));
  }
  grouped_run run(step);
  run.facts.run.launch_distance = 12'000;
  run.group();
  auto const one = run.only("products_in_a_row");
  CHECK(one.what.starts_with("16 products of one shape"));
  check_contains(one, run.won_by({work(10'000), kernel(product, 64'000)}));
}

TEST_CASE(
    "what concatenates the results of such products goes with them, if it comes behind them") {
  std::vector<act> heads;
  for (int head = 0; head < 16; ++head)
    for (auto const& one : {work(10'000), kernel(product, 4'000)}) heads.push_back(one);
  auto const made_of = [&](std::vector<act> const& behind) {
    auto step = heads;
    step.insert(step.end(), behind.begin(), behind.end());
    grouped_run run(step);
    run.facts.run.launch_distance = 12'000;
    run.group();
    return run;
  };
  auto const run = made_of({work(90'000), kernel(concatenation, 9'000)});
  auto const one = run.only("products_in_a_row");
  check_contains(one, run.won_by({work(10'000), kernel(product, 64'000)}));
  CHECK(one.gain.high_ns > recorded_steps_count * 16 * 10'000.0 + 90'000);
  auto const apart =
      made_of({work(9'000), kernel(sorting, 9'000), work(90'000), kernel(concatenation, 9'000)});
  CHECK(apart.only("products_in_a_row").gain.high_ns < one.gain.high_ns - 90'000);
}

TEST_CASE("a product of one-hot rows goes with what makes them; one of converted rows stays") {
  grouped_run const run(queued(
      {{zeros, 40'000}, {ones, 5'000}, {cast, 60'000}, {product, 70'000}, {sorting, 90'000}}));
  auto const moves = run.groups(group_pattern::moves);
  auto const has_product = [](work_group const& group) {
    return std::find(group.does.begin(), group.does.end(), "looks rows up by one-hot products") !=
           group.does.end();
  };
  CHECK(std::count_if(moves.begin(), moves.end(), has_product) == 1);
  auto const found = run.found_by({"data_movement"});
  CHECK(std::any_of(found.begin(), found.end(), [](auto const& one) {
    return one.to_do.find("F.embedding") != std::string::npos;
  }));
  for (auto const& step : {queued({{cast, 60'000}, {product, 70'000}}),
                           queued({{zeros, 40'000}, {cast, 60'000}, {product, 70'000}}),
                           queued({{ones, 5'000}, {cast, 60'000}, {product, 70'000}})}) {
    auto const others = grouped_run(step).groups(group_pattern::moves);
    CHECK(std::none_of(others.begin(), others.end(), has_product));
  }
}

TEST_CASE("behind a causal mask the products of attention need half of their FLOP") {
  auto const products_of = [](std::string const& between) {
    return grouped_run(
               queued({{product, 60'000}, {between, 70'000}, {softmax, 80'000}, {product, 60'000}}))
        .groups(group_pattern::attention)
        .front();
  };
  auto const with_mask = products_of(masking), without = products_of(scaling);
  CHECK(with_mask.beside_least_ns == Approx(without.beside_least_ns / 2));
  CHECK(with_mask.least_ns == Approx(without.least_ns / 2));
}

/// Eight tensors, of each a sum that is read.
std::vector<act> reads_of_sums(std::string const& kernel_between) {
  std::vector<act> step;
  for (int tensor = 0; tensor < 8; ++tensor)
    for (auto const& one :
         {work(15'000), kernel(kernel_between, 3'000), replay::copy("d2h", 1'000), replay::wait()})
      step.push_back(one);
  return step;
}

TEST_CASE("values that are read one after the other could be summed up together and read once") {
  auto const find_in = [](std::vector<act> const& step) {
    auto recorded = replay::record(step, recorded_steps_count);
    for (auto& item : recorded.items)
      if (item.kind == replay::work_kind::copy) {
        item.to_host = true;
        item.bytes = 4;
      }
    return grouped_run(std::move(recorded)).groups(group_pattern::reads);
  };
  auto step = reads_of_sums(mean);
  auto const found = find_in(step);
  REQUIRE(found.size() == 1);
  CHECK(found[0].instances == recorded_steps_count);
  // The first sum comes before the first read, which stays.
  CHECK(found[0].launches == recorded_steps_count * 15);
  CHECK(found[0].least_ns == Approx(recorded_steps_count * 7 * 3'000));
  for (int tensor = 0; tensor < 8; ++tensor)
    for (auto const& one : {work(15'000), kernel(scaling, 3'000)}) step.push_back(one);
  CHECK(find_in(step).front().launches == recorded_steps_count * 23);
  CHECK(find_in(reads_of_sums(product)).empty());  // layers of a network
}

TEST_CASE("a wait for such values at best saves the launches between them, too") {
  auto recorded = replay::record(reads_of_sums(mean), recorded_steps_count);
  for (auto& item : recorded.items)
    if (item.kind == replay::work_kind::copy) item.to_host = true, item.bytes = 4;
  grouped_run run(std::move(recorded));
  auto gap = waits("cudaDeviceSynchronize", 8 * recorded_steps_count, 100 * ms);
  gap.range = "step";
  gap.reads_result = true;
  run.facts.gaps = {gap};
  run.facts.there = data::kernels | data::blocking_calls;
  auto const of_all = run.only("sync_point").gain;
  run.facts.groups.clear();
  auto const of_waits = run.only("sync_point").gain;
  CHECK(of_all.low_ns == Approx(of_waits.low_ns).epsilon(0.1));
  CHECK(of_all.high_ns > of_waits.high_ns + recorded_steps_count * 6 * 15'000.0);
}

TEST_CASE("padding is found by the copies that fill a tensor in part") {
  auto const find_in = [](std::vector<std::int64_t> const& lengths, std::string const& before,
                          std::int64_t before_ns = 90'000) {
    std::vector<act> step{work(1'000), kernel(before, before_ns)};
    for (auto const ns : lengths) {
      step.push_back(work(1'000));
      step.push_back(replay::copy("[CUDA memcpy Device-to-Device]", ns));
    }
    for (auto const& one : queued({{product, 600'000}, {sorting, 200'000}})) step.push_back(one);
    return grouped_run(step);
  };
  std::vector<std::int64_t> const one_long = {8'000, 2'000, 2'000, 2'000,
                                              2'000, 2'000, 2'000, 2'000};
  auto const run = find_in(one_long, zeros);
  auto const one = run.only("padded_batch");
  CHECK(one.what.find("34 %") != std::string::npos);  // 22,000 of 64,000
  auto const saved = recorded_steps_count * 800'000 * (1 - 22.0 / 64);
  CHECK(one.gain.low_ns == Approx(0.8 * 0.95 * saved).epsilon(0.02));
  CHECK(one.gain.high_ns == Approx(1.1 * saved).epsilon(0.02));
  CHECK(find_in(std::vector<std::int64_t>(8, 8'000), zeros).is_silent("padded_batch"));
  CHECK(find_in(one_long, zeros, 10'000).is_silent("padded_batch"));  // a tensor without a rest
  CHECK(find_in(one_long, product).is_silent("padded_batch"));
  CHECK(find_in({8'000, 2'000, 2'000}, zeros).is_silent("padded_batch"));
}

TEST_CASE("a wait between two launches separates them") {
  auto const before = queued({{product, 90'000}, {addition, 40'000}});
  auto const behind = queued({{scaling, 40'000}, {product, 90'000}});
  auto step = before;
  step.insert(step.end(), behind.begin(), behind.end());
  CHECK_FALSE(grouped_run(step).is_silent("fusible_chain"));
  step.insert(step.begin() + static_cast<std::ptrdiff_t>(before.size()), replay::wait());
  CHECK(grouped_run(step).is_silent("fusible_chain"));
}

TEST_CASE("an optimizer with some kernels for each tensor is told from other chains") {
  std::vector<act> step = queued({{product, 90'000}});
  for (int tensor = 0; tensor < 40; ++tensor)
    for (auto const& one : queued({{scaling, 3'000}, {lerp, 3'000}, {addition, 3'000}}))
      step.push_back(one);
  grouped_run const run(step);
  auto const one = run.only("unfused_optimizer");
  CHECK(one.what.find("120 kernels a step") != std::string::npos);
  check_contains(one, run.won_by(queued({{product, 90'000}, {lerp, 40 * 4'000}})));
  CHECK(run.is_silent("fusible_chain"));
}

TEST_CASE("a sort is found, and top-k, which replaces it, is not") {
  grouped_run const run(queued({{product, 90'000}, {sorting, 80'000}}));
  check_contains(run.only("sort_in_step"), run.won_by(queued({{product, 90'000}})));
  CHECK(grouped_run(queued({{product, 90'000}, {top_k, 80'000}})).is_silent("sort_in_step"));
}

TEST_CASE("additions by atomics are found, also between arithmetic") {
  grouped_run const run(queued({{addition, 10'000}, {scatter_add, 80'000}, {product, 90'000}}));
  check_contains(run.only("atomic_adds"),
                 run.won_by(queued({{addition, 10'000}, {product, 90'000}})));
}

TEST_CASE("a selection by a mask goes with the additions of its gradient") {
  grouped_run const run(queued({{select, 20'000}, {product, 90'000}, {index_backward, 50'000}}));
  check_contains(run.only("boolean_mask"), run.won_by(queued({{product, 90'000}})));
}

TEST_CASE("selections at several lines are one finding: a backward pass selects again") {
  grouped_run run(queued({{select, 20'000}, {product, 90'000}, {select, 30'000}}));
  REQUIRE(run.groups(group_pattern::mask).size() == 1);
  auto all = run.facts.groups;
  auto& first = *std::find_if(all.begin(), all.end(), [](auto const& group) {
    return group.pattern == group_pattern::mask;
  });
  auto second = first;
  auto is_first = false;
  for (std::size_t i = 0; i < first.all.size(); ++i)
    if (first.all[i]) (std::exchange(is_first, !is_first) ? first : second).all[i] = false;
  first.line = "train.py:1";
  second.line = "train.py:2";
  all.push_back(second);
  run.facts.groups = all;
  check_contains(run.only("boolean_mask"), run.won_by(queued({{product, 90'000}})));
}

TEST_CASE("convolutions that a library tries leave the fastest; those of a network all stay") {
  std::vector<act> step;
  for (auto const ns : {50'000, 40'000, 30'000, 60'000})
    for (int twice = 0; twice < 2; ++twice) {
      step.push_back(work(1000));
      step.push_back(kernel("sm90_xmma_fprop_implicit_gemm_" + std::to_string(ns), ns));
    }
  grouped_run const run(step);
  check_contains(run.only("library_tuning"),
                 run.won_by(queued({{"sm90_xmma_fprop_implicit_gemm_30000", 30'000}})));
  CHECK(grouped_run(queued({{"fprop_a", 50'000},
                            {addition, 9'000},
                            {"fprop_b", 40'000},
                            {addition, 9'000},
                            {"fprop_c", 40'000},
                            {addition, 9'000},
                            {"fprop_d", 30'000}}))
            .is_silent("library_tuning"));
}

TEST_CASE("launches that Triton times leave the fastest; a fill before few of them is no trial") {
  std::string const clearing = "vectorized_elementwise_kernel<4, at::native::FillFunctor<int> >";
  auto const step_of = [&](int launches) {
    std::vector<act> step;
    for (int i = 0; i < launches; ++i) {
      for (auto const& [name, ns] :
           {std::pair(clearing, 80'000), std::pair(std::string("kf"), 50'000 - 1'000 * (i % 5))}) {
        step.push_back(work(1000));
        step.push_back(kernel(name, ns));
      }
    }
    return step;
  };
  grouped_run const run(step_of(12));
  check_contains(run.only("library_tuning"), run.won_by(queued({{"kf", 46'000}})));
  CHECK(grouped_run(step_of(5)).is_silent("library_tuning"));
  // A buffer that is cleared before each scatter into it.
  std::vector<act> scatters;
  for (int i = 0; i < 12; ++i)
    for (auto const& [name, ns] : {std::pair(clearing, 80'000), std::pair(scatter_add, 50'000)}) {
      scatters.push_back(work(1000));
      scatters.push_back(kernel(name, ns));
    }
  CHECK(grouped_run(scatters).is_silent("library_tuning"));
}

TEST_CASE("what XLA runs only to try kernels goes, with what is tried between") {
  auto const trial = std::pair(std::string("stream_executor::gpu::DelayKernel"), 20'000);
  grouped_run const run(queued({{product, 90'000},
                                trial,
                                {"gemm_fusion_dot_1", 50'000},
                                trial,
                                {"gemm_fusion_dot_1", 40'000},
                                trial,
                                {product, 90'000}}));
  auto const one = run.only("library_tuning");
  check_contains(one, run.won_by(queued({{product, 90'000}, {product, 90'000}})));
  CHECK(one.what.starts_with("XLA tries its kernels"));
}

TEST_CASE("elementwise FP32 beside products of 16 bits is told, with half of its time at best") {
  grouped_run const run(queued({{product, 90'000}, {addition, 40'000}}));
  check_contains(run.only("fp32_elementwise"),
                 run.won_by(queued({{product, 90'000}, {addition, 20'000}})));
  CHECK(run.only("fp32_elementwise").gain.low_ns == 0);
  std::string const half_addition =
      "vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16> >";
  CHECK(grouped_run(queued({{product, 90'000}, {half_addition, 40'000}}))
            .is_silent("fp32_elementwise"));
  CHECK(grouped_run(queued({{"sm80_xmma_gemm_f32f32_f32f32_f32_nn", 90'000}, {addition, 40'000}}))
            .is_silent("fp32_elementwise"));
}

TEST_CASE("moves that grow within a step are told to do so") {
  std::vector<act> grows, stays;
  for (int i = 0; i < 12; ++i) {
    for (auto* const step : {&grows, &stays}) {
      step->push_back(work(1000));
      step->push_back(kernel(concatenation, step == &grows ? 10'000 + 5'000 * i : 40'000));
      step->push_back(work(1000));
      step->push_back(kernel(product, 90'000));
    }
  }
  auto const what = [](std::vector<act> const& step) {
    return grouped_run(step).only("data_movement").what;
  };
  CHECK(what(grows).ends_with("; that grows from 15 us to 60 us within a step"));
  CHECK(what(stays).find("grows") == std::string::npos);
}

TEST_CASE("the code of a kernel tells its group where its name does not") {
  auto const step = queued({{product, 90'000}, {"my_kernel", 40'000}});
  grouped_run run(step);
  CHECK(run.is_silent("data_movement"));
  auto& kernel_of = run.facts.kernels.emplace_back();
  for (auto const& item : run.graph.recorded().items)
    if (run.graph.recorded().work_names[item.name] == "my_kernel")
      kernel_of.shape.id = static_cast<shape_id>(item.shape);
  kernel_of.work = {.kind = kernel_kind::moves, .does = "moves data", .is_told_by_code = true};
  run.group();
  check_contains(run.only("data_movement"), run.won_by(queued({{product, 90'000}})));
}

TEST_CASE("what a library prepares before it tries convolutions goes with the tries") {
  std::vector<act> step{work(5'000'000), kernel("[CUDA memset]", 2'000)};  // plans are compiled
  for (auto const ns : {50'000, 40'000, 30'000, 60'000})
    for (int twice = 0; twice < 2; ++twice) {
      step.push_back(work(1000));
      step.push_back(kernel("sm90_xmma_fprop_implicit_gemm_" + std::to_string(ns), ns));
    }
  grouped_run const run(step);
  auto const won = run.won_by(queued({{"sm90_xmma_fprop_implicit_gemm_30000", 30'000}}));
  CHECK(won > recorded_steps_count * 5e6);
  check_contains(run.only("library_tuning"), won);
}

TEST_CASE("a large copy to the host takes what the CPU does with it along") {
  auto step = queued({{product, 90'000}});
  for (auto const& one : {replay::copy("d2h", 200'000), replay::wait(), work(500'000)})
    step.push_back(one);
  auto recorded = replay::record(step, recorded_steps_count);
  for (auto& item : recorded.items) item.to_host = item.kind == replay::work_kind::copy;
  grouped_run const run(std::move(recorded));
  auto repaired = queued({{product, 90'000}});
  repaired.push_back(replay::wait());
  auto const one = run.only("work_on_host");
  CHECK_FALSE(one.condition.empty());
  check_contains(one, run.won_by(repaired));
  CHECK(one.gain.high_ns > recorded_steps_count * 600'000.0);
}

TEST_CASE("a chain needs the time of its bytes only where bytes and the DRAM rate are known") {
  auto recorded = replay::record(queued({{addition, 40'000}, {scaling, 40'000}, {product, 9'000}}),
                                 recorded_steps_count);
  for (auto& item : recorded.items) item.shape = 1;
  grouped_run run(std::move(recorded));
  auto const least_ns = [&] {
    run.group();
    return run.groups(group_pattern::chain).front().least_ns / recorded_steps_count;
  };
  CHECK(least_ns() == Approx(40'000));
  kernel_facts counted;
  counted.name = addition;
  counted.shape.id = shape_id{1};
  counted.figures.dram_rate = 1e12;
  run.facts.kernels = {counted};
  CHECK(least_ns() == Approx(40'000));  // no peaks: a rate alone says nothing
  run.facts.devices.front().peak = [](std::string_view test) {
    return test == "dram_read" ? std::optional(4e12) : std::nullopt;
  };
  CHECK(least_ns() == Approx(10'000));
}

TEST_CASE("without bytes a row takes no longer than the quickest pass over its tensors") {
  auto const least_of = [](std::initializer_list<std::pair<std::string, std::int64_t>> row) {
    return grouped_run(queued(row)).groups(group_pattern::chain).front().least_ns /
           recorded_steps_count;
  };
  CHECK(least_of({{addition, 80'000}, {scaling, 45'000}, {addition, 90'000}}) == Approx(45'000));
  // A kernel that is much shorter works on fewer elements.
  CHECK(least_of({{addition, 80'000}, {scaling, 5'000}, {addition, 90'000}}) == Approx(80'000));
}

TEST_CASE("the gain of a group is for all steps that the recorded ones stand for") {
  auto const step =
      queued({{product, 90'000}, {addition, 40'000}, {scaling, 40'000}, {product, 90'000}});
  grouped_run run(step);
  run.facts.steps.period_ns.clear();  // stretches of the run stand for steps
  run.facts.devices.front().ledger = {};
  auto const once = run.only("fusible_chain").gain.high_ns;
  constexpr double more = 20;
  run.facts.all_steps_of_groups = more * recorded_steps_count;
  replayable_steps const steps{&run.graph, more * recorded_steps_count};
  auto const found =
      give_advice(run.facts, {.only = {"fusible_chain"}, .skipped = {}, .min_gain = 0}, &steps)
          .findings;
  REQUIRE(found.size() == 1);
  CHECK(found.front().gain.high_ns == Approx(more * once));
  CHECK(found.front().what.find("in each step") != std::string::npos);
  run.facts.are_stretches = true;  // then nothing is said of a step
  auto const one = run.only("fusible_chain");
  CHECK(one.what.find("1,200 times") != std::string::npos);
  CHECK(one.what.find("step") == std::string::npos);
  REQUIRE(one.because.size() == 2);
  CHECK(one.because[0].name == "GPU time");
  CHECK(one.because[0].value == Approx(more * recorded_steps_count * 80'000));
  CHECK(one.because[1].value == Approx(more * recorded_steps_count * 2));
}

}  // namespace
}  // namespace gpuprof::host::advice
