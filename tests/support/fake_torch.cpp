// SPDX-License-Identifier: Apache-2.0
// libtorch_cpu.so as far as `--pytorch ops` needs it: the functions by which PyTorch calls back at
// the begin and end of operators, with the types that PyTorch declares for them.
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace at {

struct RecordFunction {
  std::array<std::uint64_t, 20> something{};
  char const* name_ = nullptr;
  std::int64_t sequence_number = -1;
  std::uint64_t scope = 0;
  char const* name() const;
};
char const* RecordFunction::name() const {
  return name_;
}

struct ObserverContext {
  virtual ~ObserverContext() = default;
};

class RecordFunctionCallback {
 public:
  std::unique_ptr<ObserverContext> (*start)(RecordFunction const&);
  void (*end)(RecordFunction const&, ObserverContext*);
  double sampling_probability;
  std::array<bool, 10> scopes;
  bool needs_inputs, needs_outputs, needs_ids;
};

namespace {
std::vector<std::pair<std::uint64_t, RecordFunctionCallback>> callbacks;
std::uint64_t last_handle = 0;
thread_local std::uint64_t next_number = 0;
}  // namespace

std::uint64_t addGlobalCallback(RecordFunctionCallback callback) {
  callbacks.emplace_back(++last_handle, callback);
  return last_handle;
}

void removeCallback(std::uint64_t handle) {
  std::erase_if(callbacks, [&](auto const& one) { return one.first == handle; });
}

namespace sequence_number {
std::uint64_t peek() {
  return next_number;
}
}  // namespace sequence_number

}  // namespace at

extern "C" {

std::uint64_t fake_torch_callbacks() {
  return at::callbacks.size();
}

/// What the next node of this thread gets.
std::uint64_t fake_torch_next_number() {
  return at::next_number;
}
void fake_torch_make_node() {
  ++at::next_number;
}

/// Does `work` as an operator (scope 0), a node (1) or a record_function (7); -1: no number.
void fake_torch_call(char const* name, std::uint64_t scope, std::int64_t number, void (*work)()) {
  at::RecordFunction function;
  function.name_ = name;
  function.scope = scope;
  function.sequence_number = number;
  auto const all = at::callbacks;
  std::vector<std::unique_ptr<at::ObserverContext>> contexts;
  for (auto const& [_, one] : all)
    contexts.push_back(one.scopes[scope] ? one.start(function) : nullptr);
  if (work != nullptr) work();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].second.scopes[scope]) all[i].second.end(function, contexts[i].get());
}
}
