// SPDX-License-Identifier: Apache-2.0
// A GPU that is not there, for programs that compute: memory is the host's, time is made up,
// kernels are those of libgpuprof/guest/peaks.
//
// Everything happens at once when it is asked for; streams only remember when it would have ended.
// It is stricter than a driver: what was not made or was released already is counted as misuse.
// One lock around all: the exports of compute_functions.cpp take it.
#pragma once

#include "guest/peaks/kernels/kernel_arguments.hpp"
#include "replay/format/machine.hpp"

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gpuprof::replay {
using namespace guest;

/// With what a test asks for put over what was recorded.
fake_device const& computing_device(int ordinal);

struct fake_module {
  std::map<std::string, int> functions;  // by name; the dynamic shared memory each is allowed
};
struct fake_function {
  fake_module* module;
  std::string name;
};
struct fake_stream {
  double busy_until_ns = 0;
  std::chrono::steady_clock::time_point really_until{};  // of graphs, which are timed by the host
};
struct fake_event {
  double at_ns = -1;
};
struct fake_graph {
  unsigned nodes = 0;
};

class fake_gpu {
 public:
  static fake_gpu& get();

  std::mutex lock;

  // Contexts ---------------------------------------------------------------
  CUresult retain(CUcontext* context, int ordinal);
  CUresult release(int ordinal);
  CUresult push(CUcontext context);
  CUresult pop(CUcontext* context);
  bool has_context() const;
  int current_device() const;

  // Handles ----------------------------------------------------------------
  template <class T>
  T* make(char const* kind) {
    auto made = std::make_shared<T>();
    alive_[made.get()] = {made, kind};
    return made.get();
  }
  /// Null and misuse when it is not alive.
  template <class T>
  T* find(void* handle, char const* kind) {
    auto const found = alive_.find(handle);
    if (found != alive_.end() && found->second.kind == kind) return static_cast<T*>(handle);
    misuse(std::string(kind) + " that is not there");
    return nullptr;
  }
  CUresult drop(void* handle, char const* kind);
  fake_function* function_of(fake_module* module, std::string const& name);
  fake_function* find_function(CUfunction handle);
  fake_stream* stream_of(CUstream handle);

  // Memory -----------------------------------------------------------------
  CUresult allocate(void** to, std::uint64_t bytes, bool is_pinned);
  CUresult free(void* address, bool is_pinned);
  std::uint64_t free_bytes() const;
  bool is_ours(void const* address, std::uint64_t bytes) const;
  /// `host` memory that is not pinned is not known, and copied each time.
  CUresult copy(void* to, void const* from, std::uint64_t bytes, double bytes_per_ns,
                fake_stream* on, std::string const& kind);
  CUresult set(void* to, unsigned char value, std::uint64_t bytes);

  // Work -------------------------------------------------------------------
  CUresult launch(fake_function const& function, unsigned blocks, unsigned threads,
                  unsigned shared_bytes, fake_stream* on, peaks::kernel_arguments const& arguments);
  void occupy(fake_stream& stream, double ns);
  void wait_for(fake_stream const& stream);

  void misuse(std::string const& what);
  void write_ledger();

 private:
  struct owned {
    std::shared_ptr<void> what;
    std::string kind;
  };
  struct allocation {
    std::uint64_t bytes = 0, version = 0;
    bool is_pinned = false;
    std::string last_write;  // what it was: to do it again would change nothing
  };
  std::map<std::uintptr_t, allocation>::iterator holding(void const* address, std::uint64_t bytes);
  std::string name_of(void const* address, std::uint64_t bytes, void const* unless_in);
  /// True when `what` was the last write there; notes it else.
  bool repeats(void* to, std::uint64_t bytes, std::string const& what);

  std::map<void*, owned> alive_;
  std::map<std::pair<fake_module*, std::string>, std::shared_ptr<fake_function>> functions_;
  fake_stream null_stream_;
  std::map<std::uintptr_t, allocation> memory_;
  std::uint64_t device_bytes_ = 0, versions_ = 0;
  std::map<int, int> contexts_;  // how often each device's was retained
  int pushed_ = 0;
  double now_ns_ = 1e9;
  std::uint64_t launches_ = 0;
  std::vector<std::string> misuses_;
};

}  // namespace gpuprof::replay
