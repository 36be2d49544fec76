// SPDX-License-Identifier: Apache-2.0
// The report nccl_sum: how fast the collectives of NCCL move their messages.
#include "host/analysis/collective_summary.hpp"
#include "host/report/summary_tables.hpp"
#include "own_report.hpp"

namespace gpuprof::host::command {
namespace {

class collective_report final : public own_report {
 public:
  explicit collective_report(own_report_inputs const& inputs)
      : inputs_(inputs), collectives_(inputs.trace.text()) {}

  void join(capture_walk& walk) override {
    // Marks and ranges must come before the kernels.
    walk.add_each<mark_record>({}, [this](mark_record const& mark) { collectives_.add(mark); });
    walk.add_each<range_begin>({}, [this](range_begin const& range) { collectives_.add(range); });
    auto columns =
        capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::launched,
                      &kernel_record::shape, &kernel_record::thread, &kernel_record::range);
    inputs_.add_columns_of_filters(columns);
    walk.add_each<kernel_record>(columns, [this](kernel_record const& kernel) {
      if (inputs_.keeps(kernel)) collectives_.add(kernel);
    });
  }

  finished_report finish() override {
    auto rows = collectives_.rows();
    finished_report finished;
    if (!rows.empty())
      finished.notes.emplace_back("times include waiting for other ranks; rates are of the median");
    else if (inputs_.filters != nullptr)
      finished.missing = "no collective passes the filter";
    else
      finished.missing =
          "the capture says of no kernel which collective it is: NCCL 2.18 and newer name them in "
          "NVTX ranges, torch.profiler in the arguments of kernels";
    finished.table = report::collective_rate_table(std::move(rows));
    return finished;
  }

 private:
  own_report_inputs inputs_;
  collective_times collectives_;
};

}  // namespace

std::unique_ptr<own_report> make_nccl_sum(own_report_inputs const& inputs) {
  return std::make_unique<collective_report>(inputs);
}

}  // namespace gpuprof::host::command
