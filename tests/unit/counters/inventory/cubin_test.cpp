// SPDX-License-Identifier: Apache-2.0
// What is read of cubins, and what of damaged ones.
#include "guest/metrics/inventory/cubin.hpp"

#include "guest/metrics/inventory/instructions.hpp"
#include "support/catch.hpp"
#include "support/made_cubin.hpp"

#include <map>
#include <random>
#include <string>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using enum instruction_class;

namespace {

std::map<std::string, kernel_code> read(std::vector<std::uint8_t> const& image) {
  std::map<std::string, kernel_code> found;
  auto const ok = read_cubin(image, [&](std::string_view name, kernel_code const& code) {
    found[std::string(name)] = code;
  });
  REQUIRE(ok);
  return found;
}

instruction_set set_of(std::uint32_t sm, machine_word word) {
  return read(made_cubin{sm, {{"k", {word}, {}}}}.bytes()).at("k").holds;
}

}  // namespace

TEST_CASE("a function holds the classes of all its instructions") {
  auto const found = read(made_cubin{90,
                                     {{"gemm", {sass::wgmma_bf16, sass::ffma, sass::exit}, {}},
                                      {"copy", {sass::move_by_hfma2, sass::exit}, {}}}}
                              .bytes());
  REQUIRE(found.size() == 2);
  CHECK(found.at("gemm") == kernel_code{90, wgmma_bf16 | fp32, true, {1, 2, 0}});
  CHECK(found.at("copy") == kernel_code{90, {}, true, {}});
}

TEST_CASE("instructions on the FMA pipes are counted, with their operations per thread") {
  auto const found = read(made_cubin{
      90,
      {{"k",
        {sass::imad, sass::ffma, sass::fadd, sass::hfma2, sass::move_by_hfma2, sass::dfma,
         sass::exit},
        {}}}}.bytes());
  // On sm_90 the pair of FP16 is counted in both halves of the pipe, the move by HFMA2.MMA in none.
  CHECK(found.at("k").fma == fma_instructions{5, 3, 4});
}

TEST_CASE("pairs of FP16 count once on the FMA pipes of sm_80, twice on those of sm_90") {
  for (auto const sm : {80u, 90u}) {
    auto const found =
        read(made_cubin{sm, {{"chain", {sass::hfma2, sass::hfma2, sass::hfma2, sass::exit}, {}}}}
                 .bytes());
    CHECK(found.at("chain").fma == fma_instructions{sm == 90 ? 6u : 3u, 0, 12});
  }
}

TEST_CASE("the type of a tensor instruction is in its second word") {
  CHECK(set_of(90, sass::wgmma_fp16) == instruction_set(wgmma_fp16));
  CHECK(set_of(90, sass::wgmma_bf16) == instruction_set(wgmma_bf16));
  CHECK(set_of(90, sass::wgmma_tf32) == instruction_set(wgmma_tf32));
  CHECK(set_of(90, sass::mma_bf16) == instruction_set(mma_bf16));
  // As nvdisasm has them: HMMA.1688.F32, HMMA.1684.F32.TF32, IMMA.16816.S8.S8.
  CHECK(set_of(90, {0x000000040804723c, 0x001fe200000010ff}) == instruction_set(mma_fp16_short));
  CHECK(set_of(90, {0x000000040804723c, 0x001fe200000850ff}) == instruction_set(mma_tf32_short));
  CHECK(set_of(90, {0x0000000408047237, 0x001fe200004054ff}) == instruction_set(mma_int8_short));
}

TEST_CASE("a warpgroup instruction with few columns is marked as narrow") {
  CHECK(set_of(90, sass::wgmma_fp16_n8) == (wgmma_fp16 | narrow_wgmma));
}

TEST_CASE("a constant moved by half-precision units is not arithmetic") {
  CHECK(set_of(90, sass::move_by_hfma2) == instruction_set());
  CHECK(set_of(90, sass::hfma2) == instruction_set(fp16));
}

TEST_CASE("what tells the kind of work is found, and no reciprocal or compare-and-swap") {
  CHECK(set_of(90, sass::fmnmx) == instruction_set(float_other));
  CHECK(set_of(90, sass::mufu_ex2) == instruction_set(float_other));
  CHECK(set_of(90, sass::mufu_rcp) == instruction_set());
  CHECK(set_of(90, sass::shfl) == instruction_set(shuffle));
  CHECK(set_of(90, sass::bar) == instruction_set(barrier));
  CHECK(set_of(90, sass::redg_f32) == instruction_set(add_in_memory));
  CHECK(set_of(80, sass::redg_f32) == instruction_set());  // there it is RED, of another number
  CHECK(set_of(90, sass::atomg_cas) == instruction_set());
}

TEST_CASE("the same opcode is another operation on another chip") {
  machine_word const integer_add_of_sm_90{0x0001800000007836, 0x000fe20000000000};
  CHECK(set_of(90, integer_add_of_sm_90) == instruction_set());
  CHECK(set_of(75, integer_add_of_sm_90) == instruction_set(mma_fp16));
  CHECK(set_of(100, sass::wgmma_bf16) == instruction_set());
}

TEST_CASE("flags of files from before CUDA 13 hold the chip in another place") {
  made_cubin cubin{80, {{"k", {sass::ffma}, {}}}};
  cubin.has_old_flags = true;
  CHECK(read(cubin.bytes()).at("k").sm == 80);
}

TEST_CASE("code of an unknown chip is incomplete") {
  auto const found = read(made_cubin{95, {{"k", {sass::ffma}, {}}}}.bytes());
  CHECK(found.at("k") == kernel_code{95, {}, false});
}

TEST_CASE("a function includes all functions that it calls, directly or indirectly") {
  auto const found = read(made_cubin{90,
                                     {{"kernel", {sass::exit}, {"middle"}},
                                      {"middle", {sass::fadd}, {"leaf", "middle"}},
                                      {"leaf", {sass::dfma}, {}}}}
                              .bytes());
  CHECK(found.at("kernel") == kernel_code{90, fp32 | fp64, true, {1, 1, 0}});
  CHECK(found.at("leaf") == kernel_code{90, fp64, true});
}

TEST_CASE("functions of the driver have no arithmetic, unknown functions may have some") {
  auto const found = read(made_cubin{90,
                                     {{"says", {sass::exit}, {"vprintf", "__assertfail"}},
                                      {"asks", {sass::exit}, {"some_other_function"}},
                                      {"through", {sass::exit}, {"asks"}}}}
                              .bytes());
  CHECK(found.at("says").is_complete);
  CHECK_FALSE(found.at("asks").is_complete);
  CHECK_FALSE(found.at("through").is_complete);
}

TEST_CASE("a function that calls through a pointer is incomplete") {
  auto const found =
      read(made_cubin{90, {{"k", {sass::exit}, {}, true}, {"other", {sass::exit}, {}}}}.bytes());
  CHECK_FALSE(found.at("k").is_complete);
  CHECK(found.at("other").is_complete);
}

TEST_CASE("without a call graph a function without calls is complete, one with calls is not") {
  made_cubin cubin{90,
                   {{"alone", {sass::ffma, sass::exit}, {}},
                    {"calls", {sass::ffma, sass::call, sass::exit}, {}},
                    {"points", {sass::ffma, sass::call_through_pointer}, {}}}};
  cubin.has_call_graph = false;
  auto const found = read(cubin.bytes());
  CHECK(found.at("alone") == kernel_code{90, fp32, true, {1, 2, 0}});
  CHECK(found.at("calls") == kernel_code{90, fp32, false, {1, 2, 0}});
  CHECK(found.at("points") == kernel_code{90, fp32, false, {1, 2, 0}});
}

TEST_CASE("a file cut at any place is an error or gives less, and nothing beyond it is read") {
  auto const whole = made_cubin{90, {{"a", {sass::ffma}, {"b"}}, {"b", {sass::dfma}, {}}}}.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<std::uint8_t> const part(whole.begin(),
                                         whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(read_cubin(part, [](std::string_view, kernel_code const&) {}));
  }
}

TEST_CASE("a file with changed bytes does no harm") {
  auto const whole = made_cubin{90, {{"a", {sass::ffma}, {"b"}}, {"b", {sass::dfma}, {}}}}.bytes();
  std::mt19937 random(5);
  for (int turn = 0; turn < 20000; ++turn) {
    auto changed = whole;
    for (int i = 0; i < 4; ++i)
      changed[random() % changed.size()] =
          static_cast<std::uint8_t>(random() % 3 ? random() : 0xff);
    std::size_t names = 0;
    (void)read_cubin(changed,
                     [&](std::string_view name, kernel_code const&) { names += name.size(); });
    CHECK(names <= 64 * changed.size());
  }
}

TEST_CASE("the size of code is found without decoding it") {
  auto const facts = look_at_cubin(
      made_cubin{86, {{"a", {sass::ffma, sass::exit}, {}}, {"b", {sass::exit}, {}}}}.bytes());
  REQUIRE(facts);
  CHECK(facts->sm == 86);
  CHECK(facts->code_bytes == 48);
}

TEST_CASE("calls and jumps are recognized on every chip, branches are not") {
  for (auto const sm : {75u, 80u, 86u, 89u, 90u, 100u, 103u, 120u}) {
    INFO("sm_" << sm);
    auto const has_calls = [sm](std::uint64_t low) {
      machine_word const word{low, 0};
      return instructions_in(sm, {reinterpret_cast<std::uint8_t const*>(&word), sizeof word})
          .has_calls;
    };
    CHECK(has_calls(0x0000000000207944));        // CALL.REL.NOINC
    CHECK(has_calls(0xfffffffc06cc7344));        // CALL.REL.NOINC R6
    CHECK(has_calls(0x000000000a007343));        // CALL.ABS.NOINC R10
    CHECK_FALSE(has_calls(0xfffffffc00fc7947));  // BRA
    CHECK_FALSE(has_calls(0x0000000004447949));  // BRX
    CHECK_FALSE(has_calls(0x0000000004007950));  // RET.REL.NODEC
    CHECK_FALSE(has_calls(0x000000000000794d));  // EXIT
  }
}
