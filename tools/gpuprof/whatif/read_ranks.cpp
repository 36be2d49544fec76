// SPDX-License-Identifier: Apache-2.0
#include "whatif/read_ranks.hpp"

#include "base/readable.hpp"
#include "host/replay/joined_ranks.hpp"
#include "ranks/capture_names.hpp"
#include "text/overview.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace gpuprof::host::command {
namespace {

class ranks_reader {
 public:
  ranks_reader(capture_set set, ranks_question question)
      : set_(std::move(set)), question_(std::move(question)) {
    question_.steps.max_items /= set_.captures.size();
    made_.read.remarks = set_.remarks;
  }

  result<steps_of_ranks> run() {
    if (set_.captures.size() < 2)
      return error{"these captures are of one rank; name one of them, or those of all ranks"};
    if (question_.digests.empty())
      if (auto const digested = read_digests(); !digested) return error{digested.message()};
    auto const job = collectives_of(set_.captures, question_.digests, question_.style);
    if (job.empty())
      return error{
          "no rank ran a collective, so nothing says how the ranks wait for each other; ask of one "
          "capture"};
    for (std::size_t i = 0; i < set_.captures.size(); ++i)
      if (auto const read = read_rank(i, job); !read)
        return error{"rank " + set_.captures[i].label + ": " + read.message()};
    finish(job.tolerance_ns);
    return std::move(made_);
  }

 private:
  result<void> read_digests() {
    for (auto const& capture : set_.captures) {
      auto opened = capture::reader::open(capture.path);
      if (!opened) return error{opened.message()};
      trace_contents trace(*std::move(opened));
      question_.digests.push_back(
          read_digest(trace, {}, range_scope::process, {.styles = {question_.style}}));
      heading_.add(trace.overview(), capture);
    }
    return {};
  }

  result<void> read_rank(std::size_t rank, job_collectives const& job) {
    auto opened = capture::reader::open(set_.captures[rank].path);
    if (!opened) return error{opened.message()};
    trace_contents trace(*std::move(opened));
    auto question = question_.steps;
    if (!question_.phases.empty()) question.phase = question_.phases[rank];
    duration_ns const ahead{job.clocks.of_rank[rank]};
    if (rank > 0) {
      question.like = chosen_;
      question.like->time = {chosen_.time.begin + ahead, chosen_.time.end + ahead};
    }
    auto read = read_steps(trace, question);
    if (!read) return error{read.message()};
    for (auto const& remark : read->remarks) remarks_.add(remark, set_.captures[rank].label);
    for (std::size_t i = 0; i < read->raw_work_names.size(); ++i)
      raw_names_.try_emplace(read->steps.work_names[i], read->raw_work_names[i]);
    auto const begin_ns = static_cast<std::int64_t>(read->begin.value) - ahead.value;
    has_calls_ &= read->has_calls;
    ranks_.push_back({set_.captures[rank].label, begin_ns, std::move(read->steps)});
    if (rank > 0) return {};
    // The clock of the first host is the reference.
    chosen_ = {read->could_be_chosen,
               read->first_step,
               ranks_.front().steps.steps,
               {read->begin, read->end}};
    auto remarks = std::move(made_.read.remarks);
    made_.read = *std::move(read);
    made_.read.remarks = std::move(remarks);
    return {};
  }

  void finish(std::uint64_t tolerance_ns) {
    auto joined = replay::join_ranks(std::move(ranks_), tolerance_ns);
    auto& read = made_.read;
    read.steps = std::move(joined.steps);
    read.has_calls = has_calls_;
    read.raw_work_names.clear();
    for (auto const& name : read.steps.work_names)
      read.raw_work_names.push_back(raw_names_.at(name));
    for (auto& line : remarks_.lines(set_.captures.size())) read.remarks.push_back(std::move(line));
    if (joined.unmatched > 0)
      read.remarks.push_back(counted(joined.unmatched, "kernels") +
                             " of collectives have no counterpart on the other ranks: they wait as "
                             "long as they did");
    made_.heading = heading_.lines();
  }

  capture_set set_;
  ranks_question question_;
  joined_heading heading_;
  rank_remarks remarks_;
  steps_of_other_rank chosen_;  // of the first rank
  std::vector<replay::steps_of_rank> ranks_;
  std::map<std::string, std::string> raw_names_;  // of work, by its name
  bool has_calls_ = true;
  steps_of_ranks made_;
};

}  // namespace

result<steps_of_ranks> read_steps_of_ranks(capture_set set, ranks_question question) {
  return ranks_reader(std::move(set), std::move(question)).run();
}

}  // namespace gpuprof::host::command
