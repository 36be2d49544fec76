// SPDX-License-Identifier: Apache-2.0
// The parameters of a replayed launch, rebuilt from the record of its kernel.
#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>

namespace gpuprof::replay {

/// What a program would have handed to the driver. Lives from the entry of a call to its exit;
/// points into itself.
class launch_arguments {
 public:
  launch_arguments() = default;
  launch_arguments(launch_arguments const&) = delete;
  launch_arguments& operator=(launch_arguments const&) = delete;

  /// The parameters of a call of this id whose first kernel has this record, as
  /// CUpti_CallbackData::functionParams has them; null for calls that launch no kernels.
  /// `function` tells kernels apart: their symbol as the number of a string.
  void const* of(std::uint32_t cbid, CUpti_ActivityKernel10 const& kernel, std::uint32_t function);

  /// Those of a copy or fill. Where such a call keeps its stream differs: it stands in every word.
  void const* of_copy(std::uint32_t context, std::uint32_t stream) noexcept;

 private:
  void** values_of(CUpti_ActivityKernel10 const& kernel);

  /// What kernels are given: an address, and a number that REPLAY_ARGUMENTS says how to choose.
  std::uint64_t address_ = 0, number_ = 0;
  std::array<void*, 2> values_{&address_, &number_};
  std::array<CUlaunchAttribute, 1> attributes_{};
  CUlaunchConfig config_{};
  cuLaunchKernel_params plain_{};
  cuLaunchKernelEx_params extended_{};
  cuLaunchCooperativeKernel_params cooperative_{};
  cuGraphLaunch_params graph_{};
  std::array<CUstream, 16> copy_{};
};

/// The handle of a stream by its id in records; the default stream has none.
CUstream stream_handle(std::uint32_t context, std::uint32_t stream) noexcept;

}  // namespace gpuprof::replay
