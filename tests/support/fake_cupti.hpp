// SPDX-License-Identifier: Apache-2.0
// A CUPTI for tests: a filled cupti_api that remembers what it was asked, fails where told, and
// lets the test play CUPTI's part.
#pragma once

#include "guest/cupti/api.hpp"
#include "guest/cupti/guard.hpp"
#include "guest/cupti/loader.hpp"
#include "support/fake_host.hpp"
#include "support/fake_sampling.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::test {
using namespace guest;

/// One at a time: CUPTI's functions carry no state of their own, so the table points to the fake
/// that was made last. Calls may come from any thread.
class fake_cupti {
 public:
  /// `version`: what cuptiGetVersion() says.
  explicit fake_cupti(unsigned version = 130001);
  ~fake_cupti();
  fake_cupti(fake_cupti const&) = delete;
  fake_cupti& operator=(fake_cupti const&) = delete;

  /// All functions there are; set members to null to play an older library.
  loaded_cupti library;
  /// Answers the functions of the counters group.
  fake_host host;
  /// Those of the sampling group, and what is evaluated from its samples.
  fake_sampling sampling;

  /// The n-th call of this function (from 1; 0: every one) returns `code` and does nothing.
  void fail_nth(std::string const& function, unsigned n, CUptiResult code);
  /// The n-th call of whatever function, counted from 1.
  void fail_call(unsigned n, CUptiResult code);
  /// Another client holds CUPTI: cuptiSubscribe and cuptiSubscribe_v2 answer 39.
  void hold_as(std::string name) { holder_ = std::move(name); }
  /// Runs inside every call of this function, on the calling thread.
  void when_called(std::string const& function, std::function<void()> act);

  /// "cuptiActivityEnable 10": name and integer arguments, in the order of the calls. Functions
  /// that change nothing (names, texts, version, records) are left out.
  std::vector<std::string> calls() const;
  unsigned count(std::string const& function) const;
  void forget_calls();

  // What is switched on just now.
  bool subscribed() const { return subscribed_; }
  std::set<int> kinds() const;
  /// Pairs of kind and callback id: calls that were switched on alone.
  std::set<std::pair<int, int>> single_calls() const;
  /// Pairs of domain and callback id.
  std::set<std::pair<int, int>> callbacks() const;
  bool listens_to_whole_domain(int domain) const;

  /// What cuptiActivityGetNumDroppedRecords() will say, once.
  void drop_records(std::size_t count) { dropped_ = count; }

  // CUPTI's part: calls the functions that the code under test has registered, on this thread.
  std::pair<std::uint8_t*, std::size_t> request_buffer();
  void complete_buffer(std::uint8_t* buffer, std::size_t size, std::size_t used);
  void driver_call(CUpti_ApiCallbackSite site, CUpti_CallbackData& data, std::uint32_t cbid);
  void resource(CUpti_CallbackId id);
  /// A call that instantiates a graph, and one that destroys it; with the callbacks that are on.
  /// `meanwhile` runs inside.
  void instantiate(CUgraphExec graph, std::function<void()> const& meanwhile = {});
  void destroy(CUgraphExec graph);
  /// The driver call of this id, without parameters.
  void call(std::uint32_t cbid);
  enum class launched { whole, by_nodes, crashed };
  /// A launch of a graph. As the real CUPTI this one "crashes" where GRAPH_TRACE is enabled during
  /// the launch of a graph that was not instantiated under it. `meanwhile` runs inside.
  launched launch(CUgraphExec graph, std::function<void()> const& meanwhile = {});
  void fatal_error(CUptiResult code, char const* message);

  /// Called by the stubs of the table.
  CUptiResult note(char const* function, std::string arguments, bool changes_something);
  template <auto Member, class... Args>
  CUptiResult act(Args... args);

 private:
  void deliver(CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data);
  void deliver_if_on(CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data);
  void deliver_graph(CUpti_CallbackId id, CUgraphExec graph);
  bool is_deadly(CUgraphExec graph) const;
  CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user);

  mutable std::mutex mutex_;  // protects all below
  std::vector<std::string> calls_;
  std::map<std::string, unsigned> counts_;
  std::map<std::string, std::function<void()>> acts_;
  struct failure {
    std::string function;
    unsigned n = 0;
    CUptiResult code = CUPTI_SUCCESS;
  };
  std::vector<failure> failures_;
  unsigned total_ = 0;
  std::string holder_;
  bool subscribed_ = false;
  std::set<int> kinds_;
  std::set<std::pair<int, int>> single_calls_;
  std::set<std::pair<int, int>> callbacks_;
  std::set<int> domains_;
  std::size_t dropped_ = 0;
  std::set<CUgraphExec> made_whole_;  // instantiated under GRAPH_TRACE since CUPTI was attached
  unsigned switched_off_ = 0;         // times that GRAPH_TRACE was
  CUpti_CallbackFunc callback_ = nullptr;
  void* callback_user_ = nullptr;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
};

}  // namespace gpuprof::test
