// SPDX-License-Identifier: Apache-2.0
// How fast collectives of NCCL move their messages: one line for each collective, size and group.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// The domain of NCCL's own ranges, and of marks that an import makes of the arguments of a kernel.
inline constexpr std::string_view nccl_domain = "NCCL";

struct collective_arguments {
  std::string name, type, group;
  std::uint64_t bytes = 0;       // as nccl-tests counts a message; 0: not known
  std::uint32_t group_size = 0;  // 0: not known
  friend auto operator<=>(collective_arguments const&, collective_arguments const&) = default;
};

/// `payload`: JSON with the names that NCCL or torch.profiler gives to the arguments.
collective_arguments collective_arguments_in(std::string_view name, std::string_view payload);

struct collective_rate_row {
  collective_arguments arguments;
  statistics time;
  /// Bytes in a second, for the median time: of the message, and over a link of each rank.
  std::optional<double> message_rate, bus_rate;
};

/// Feed all marks and ranges first, then all kernels.
class collective_times {
 public:
  explicit collective_times(text_of_name text) : text_(std::move(text)) {}

  void add(mark_record const& mark);
  void add(range_begin const& range);
  void add(kernel_record const& kernel);

  /// Longest total first.
  std::vector<collective_rate_row> rows();

 private:
  std::size_t place_of(name_id name, name_id payload);
  void learn_size_of_group(name_id payload);

  text_of_name text_;
  std::vector<std::pair<collective_arguments, samples>> all_;
  std::map<collective_arguments, std::size_t> places_;
  std::map<std::pair<name_id, name_id>, std::size_t> by_payload_;
  std::map<std::pair<thread_index, timestamp_ns>, std::size_t> marked_;
  std::map<range_id, std::size_t> ranges_;
  std::map<std::string, std::uint32_t, std::less<>> group_sizes_;  // by NCCL's communicator ID
};

}  // namespace gpuprof::host
