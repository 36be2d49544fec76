// SPDX-License-Identifier: Apache-2.0
// Turns records of the model into those of the C++ interface, and calls the visitor.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof {

/// For one walk through a capture.
class captured_records {
 public:
  captured_records(trace_contents& trace, exported_names& names, capture_visitor const& visitor);

  template <class Row>
  bool wants() const {
    return wants(std::type_identity<Row>{});
  }

  void operator()(kernel_record const& row);
  void operator()(graph_record const& row);
  void operator()(copy_record const& row);
  void operator()(memset_record const& row);
  void operator()(api_record const& row);
  void operator()(range_begin const& row);
  void operator()(mark_record const& row);
  void operator()(sync_record const& row);
  void operator()(memory_record const& row);
  void operator()(sampled_launch_record const& row);
  void operator()(metric_sample_record const& row);
  void operator()(chip_state_record const& row);

 private:
  using named_values = std::vector<std::pair<std::string_view, double>>;

  bool wants(std::type_identity<kernel_record>) const { return bool(visitor_.kernel); }
  bool wants(std::type_identity<graph_record>) const { return bool(visitor_.graph); }
  bool wants(std::type_identity<copy_record>) const { return bool(visitor_.copy); }
  bool wants(std::type_identity<memset_record>) const { return bool(visitor_.fill); }
  bool wants(std::type_identity<api_record>) const { return bool(visitor_.call); }
  bool wants(std::type_identity<range_begin>) const { return bool(visitor_.range); }
  bool wants(std::type_identity<mark_record>) const { return bool(visitor_.mark); }
  bool wants(std::type_identity<sync_record>) const { return bool(visitor_.sync); }
  bool wants(std::type_identity<memory_record>) const { return bool(visitor_.memory); }
  bool wants(std::type_identity<sampled_launch_record>) const { return bool(visitor_.reading); }
  bool wants(std::type_identity<metric_sample_record>) const { return bool(visitor_.sample); }
  bool wants(std::type_identity<chip_state_record>) const { return bool(visitor_.chip_state); }

  template <class Row>
  captured_work work_of(Row const& row) const;
  captured_payload payload_of(payload_kind kind, std::uint64_t bits);
  void read_metrics();
  void read_values();

  trace_contents& trace_;
  exported_names& names_;
  capture_visitor const& visitor_;
  std::unordered_map<metric_id, metric_record> metrics_;
  std::unordered_map<correlation_id, named_values> values_;
};

}  // namespace gpuprof
