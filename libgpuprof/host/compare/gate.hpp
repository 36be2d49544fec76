// SPDX-License-Identifier: Apache-2.0
// What a build must not get worse by: "step>3%,kernel:.*gemm.*>5%,lost>0".
#pragma once

#include "base/result.hpp"
#include "host/compare/comparison.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

enum class clause_kind : std::uint8_t { step, gpu, range, kernel, bucket, finding, lost };

struct clause {
  clause_kind kind{};
  std::string text;  // as it was written
  std::string name;  // of a range, bucket or rule; of kernels a regular expression
  double limit = 0;  // a share; of `lost` a number of records
};

/// Clauses with commas between them. A comma inside a name belongs to it, unless a number stands
/// before it: a clause ends with one.
result<std::vector<clause>> parse_gate(std::string_view text);

enum class gate_answer : std::uint8_t { passed, failed, undecided };

struct gate_result {
  gate_answer answer{};
  std::string line;  // what is said of it
};

/// An answer to each clause. Failed: a line that the clause names is worse by more than the limit,
/// and by what matters at all, beyond noise. Undecided: it is not, but noise is greater than the
/// limit, or there is nothing to judge. All clauses together err with `error_rate`, of which each
/// has as much as another, however many lines it looks at.
std::vector<gate_result> judge_gate(std::span<clause const> clauses, comparison const& compared,
                                    std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
