// SPDX-License-Identifier: Apache-2.0
// Checks a build against limits: "step>3%,kernel:.*gemm.*>5%,lost>0".
#pragma once

#include "base/result.hpp"
#include "host/compare/comparison.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

enum class clause_kind : std::uint8_t {
  run,
  step,
  gpu,
  range,
  kernel,
  line,
  module,
  bucket,
  finding,
  lost
};

struct clause {
  clause_kind kind{};
  std::string text;  // as written by the user
  // The name of a range, bucket or rule; for kernels a regular expression; for lines a part of the
  // name; for modules the path, with or without the class.
  std::string name;
  double limit = 0;  // a share; for `lost` a number of records
};

/// Parses clauses separated by commas. A comma is part of a name unless it follows a number,
/// because each clause ends with a number.
result<std::vector<clause>> parse_gate(std::string_view text);

enum class gate_answer : std::uint8_t { passed, failed, undecided };

struct gate_result {
  gate_answer answer{};
  std::string line;  // text for the report
};

/// Returns an answer for each clause. Failed: a line of the clause is worse beyond noise, by more
/// than the limit and more than `least_difference`. Undecided: not failed, but noise is greater
/// than the limit, or there is nothing to judge. All clauses together are wrong with the
/// probability `error_rate`, divided equally among them, however many lines each one has.
std::vector<gate_result> judge_gate(std::span<clause const> clauses, comparison const& compared,
                                    std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
