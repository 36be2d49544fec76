// What a kernel that ran no tensor instruction has counted, without counting it.
#pragma once

#include <span>
#include <string>

namespace gpuprof {

/// `values` of `metrics` of one range, NaN where no pass has counted yet. Where the tensor pipe was
/// never active, operations of the tensor path that were not counted become 0. True: it was not,
/// and no value is missing now. Only for chips whose tensor pipe runs them all.
bool fill_idle_tensor(std::span<std::string const> metrics, std::span<double> values);

}  // namespace gpuprof
