// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/sharing_remarks.hpp"

#include "base/process.hpp"

#include <filesystem>

namespace gpuprof::guest::peaks {

std::optional<std::string> mps_remark(std::string const& pipe_folder,
                                      std::string const& thread_percentage) {
  std::error_code ignored;
  if (!std::filesystem::exists(pipe_folder + "/control", ignored)) return std::nullopt;
  std::string text = "MPS is on (" + pipe_folder +
                     "): other processes may run on this GPU at the same time, which the spread of "
                     "the figures would show";
  if (!thread_percentage.empty()) {
    text += "; CUDA_MPS_ACTIVE_THREAD_PERCENTAGE leaves us " + thread_percentage + " % of the SMs";
  }
  return text;
}

std::optional<std::string> mig_remark(device_facts const& device) {
  if (!device.uuid.starts_with("MIG-")) return std::nullopt;
  return "this is a MIG slice with " + std::to_string(device.sm_count) +
         " SMs: figures are the slice's, clocks and watts those of the whole chip, and other "
         "slices "
         "may take power and PCIe from it";
}

std::vector<std::string> sharing_remarks(device_facts const& device) {
  std::vector<std::string> remarks;
  auto const pipe_folder = environment("CUDA_MPS_PIPE_DIRECTORY");
  auto mps = mps_remark(pipe_folder.empty() ? "/tmp/nvidia-mps" : pipe_folder,
                        environment("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
  if (mps) remarks.push_back(std::move(*mps));
  if (auto mig = mig_remark(device)) remarks.push_back(std::move(*mig));
  return remarks;
}

}  // namespace gpuprof::guest::peaks
