// SPDX-License-Identifier: Apache-2.0
// Turns CUPTI's activity buffers into model records. Pure: no CUPTI state, no lock, no clock.
#pragma once

#include "base/ledger.hpp"
#include "guest/collect/kernel_names.hpp"
#include "guest/collect/launch_table.hpp"
#include "guest/collect/shape_table.hpp"
#include "guest/cupti/api.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

/// Receives the records that the decoder finds, and adds their thread, range and launch time.
class activity_sink {
 public:
  virtual ~activity_sink() = default;
  virtual void shape(kernel_shape const&) = 0;  // called before its first kernel
  virtual void kernel(kernel_record const&) = 0;
  virtual void graph(graph_record const&) = 0;
  virtual void copy(copy_record const&) = 0;
  virtual void set(memset_record const&) = 0;
  virtual void api(api_record const&) = 0;
  virtual void sync(sync_record const&) = 0;
  virtual void memory(memory_record const&) = 0;
  virtual void unified_memory(unified_memory_record const&) = 0;
};

/// A kernel of CUPTI itself. It runs with the correlation id of a launch whose instructions CUPTI
/// counts.
inline constexpr std::string_view wait_kernel_of_cupti = "WaitNs";

/// Counts what the decoder could not use, by reason.
struct decode_losses {
  std::uint64_t kernels_without_time =
      0;  // CUPTI had no device buffer left, or the kernel was cut off by the end of the capture
  std::uint64_t kernels_without_shape = 0;  // no room in the shape table, not even for the name
  std::uint64_t kernels_without_grid = 0;   // room in the shape table only for the name
  std::uint64_t others_without_time = 0;
  std::uint64_t unknown_kinds = 0;  // records of a kind we did not ask for
  std::uint64_t broken_buffers =
      0;  // the walk stopped before the end: the rest of that buffer is lost
};

class activity_decoder {
 public:
  /// `cupti` gives cuptiActivityGetNextRecord and cuptiGetCallbackName; both work without a driver.
  /// `launches`: read where the record of a kernel may not be able to tell its name any more.
  activity_decoder(cupti_api const& cupti, unsigned version, name_registry& names,
                   kernel_names& kernels, launch_table& launches, activity_sink& sink)
      : cupti_(cupti),
        version_(version),
        names_(names),
        kernels_(kernels),
        launches_(launches),
        sink_(sink) {}

  /// `buffer` starts 8-byte aligned, as CUPTI requires of its buffers.
  void decode(std::span<std::uint8_t> buffer);

  /// Returns a name as in call records, for example "cuStreamSynchronize".
  name_id name_of_driver_call(std::uint32_t id) { return api_name(CUPTI_CB_DOMAIN_DRIVER_API, id); }

  decode_losses const& losses() const noexcept { return losses_; }
  void report(ledger& to) const;
  std::uint64_t records() const noexcept { return records_; }
  /// Returns the shape `known` with this kernel name and these arguments (0: unchanged). Tells the
  /// sink about a new shape before it returns.
  shape_id shape_for(shape_id known, name_id kernel, std::uint32_t arguments);

 private:
  void one(CUpti_Activity const& record);
  void kernel(CUpti_Activity const&);
  void graph(CUpti_Activity const&);
  void copy(CUpti_Activity const&);
  void peer_copy(CUpti_Activity const&);
  void set(CUpti_Activity const&);
  void api(CUpti_Activity const&);
  void sync(CUpti_Activity const&);
  void memory(CUpti_Activity const&);
  void unified_memory(CUpti_Activity const&);

  name_id name_of(kernel_shape const& shape, CUpti_Activity const& record);
  name_id name_at(char const* pointer);
  name_id api_name(CUpti_CallbackDomain domain, std::uint32_t cbid);

  cupti_api const& cupti_;
  unsigned const version_;
  name_registry& names_;
  kernel_names& kernels_;
  launch_table& launches_;
  activity_sink& sink_;
  shape_table shapes_;
  std::unordered_map<char const*, name_id> names_read_;  // names of kernels with unseen launch
  std::uint16_t read_in_ = 0;                            // generation_ of kernels_ then
  std::array<std::vector<name_id>, 2> api_names_;
  decode_losses losses_;
  std::uint64_t records_ = 0;
};

}  // namespace gpuprof::guest
