// Turns CUPTI's activity buffers into model records. Pure: no CUPTI state, no lock, no clock.
#pragma once

#include "collect/shape_table.hpp"
#include "cupti/api.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof {

class name_registry;

/// Takes what the decoder finds. Thread, range and launch time of a record are filled in by the
/// taker.
class activity_sink {
 public:
  virtual ~activity_sink() = default;
  virtual void shape(kernel_shape const&) = 0;  // before the first kernel that has it
  virtual void kernel(kernel_record const&) = 0;
  virtual void graph(graph_record const&) = 0;
  virtual void copy(copy_record const&) = 0;
  virtual void set(memset_record const&) = 0;
  virtual void api(api_record const&) = 0;
  virtual void sync(sync_record const&) = 0;
  virtual void memory(memory_record const&) = 0;
  virtual void unified_memory(unified_memory_record const&) = 0;
};

/// What a decoder could not use, by reason.
struct decode_losses {
  std::uint64_t kernels_without_time =
      0;  // CUPTI had no device buffer left, or the kernel was cut off by the end of the capture
  std::uint64_t others_without_time = 0;
  std::uint64_t unknown_kinds = 0;  // records of a kind we did not ask for
  std::uint64_t broken_buffers =
      0;  // the walk stopped before the end: the rest of that buffer is lost
};

class activity_decoder {
 public:
  /// `cupti` gives cuptiActivityGetNextRecord and cuptiGetCallbackName; both work without a driver.
  activity_decoder(cupti_api const& cupti, unsigned version, name_registry& names,
                   activity_sink& sink)
      : cupti_(cupti), version_(version), names_(names), sink_(sink) {}

  /// `buffer` starts 8-byte aligned, as CUPTI requires of its buffers.
  void decode(std::span<std::uint8_t> buffer);

  /// Name pointers are CUPTI's; forget them when CUPTI is finalised.
  void forget_pointers() {
    recent_names_.fill({});
    names_by_pointer_.clear();
  }

  decode_losses const& losses() const noexcept { return losses_; }
  std::uint64_t records() const noexcept { return records_; }
  /// A shape of which the sink has heard, for launches with these arguments. The sink hears of it
  /// first.
  shape_id shape_for(shape_id known, std::uint32_t arguments);
  /// Kernels whose shape found no place in the table: their records have shape 0.
  std::uint64_t shapes_refused() const noexcept { return shapes_.refused(); }
  /// A program that loads and unloads modules for days has ever new names: at this many the
  /// pointers are forgotten and learnt again.
  static constexpr std::size_t pointers_at_most = 1 << 16;
  std::size_t pointers_known() const noexcept { return names_by_pointer_.size(); }

 private:
  struct known_name {
    name_id id{};
    std::string text;
  };

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

  name_id name_behind(char const* pointer);
  known_name& name_at(char const* pointer);
  name_id api_name(CUpti_CallbackDomain domain, std::uint32_t cbid);

  cupti_api const& cupti_;
  unsigned const version_;
  name_registry& names_;
  activity_sink& sink_;
  shape_table shapes_;
  std::unordered_map<char const*, known_name> names_by_pointer_;
  struct recent_name {
    char const* pointer = nullptr;
    known_name* name = nullptr;
  };
  std::array<recent_name, 256> recent_names_{};  // by address: most records need no look at the map
  std::array<std::vector<name_id>, 2> api_names_;
  decode_losses losses_;
  std::uint64_t records_ = 0;
};

}  // namespace gpuprof
