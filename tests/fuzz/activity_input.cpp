// SPDX-License-Identifier: Apache-2.0
#include "fuzz/activity_input.hpp"

#include "guest/collect/activity_decoder.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "support/record_walk.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace gpuprof::fuzz {
using namespace guest;
namespace {

void promise(bool kept) {
  if (!kept) std::abort();
}

/// Counts, and looks at what each record promises.
struct checking_sink final : activity_sink {
  std::size_t shapes = 0, kernels = 0, kernels_without_time = 0, others = 0;

  void shape(kernel_shape const& s) override { promise(raw(s.id) == ++shapes); }
  void kernel(kernel_record const& k) override {
    ++kernels;
    if (k.start.value == 0) ++kernels_without_time;
    promise(raw(k.shape) >= 1 && raw(k.shape) <= shapes);
    promise(k.duration.value >= 0);
  }
  template <class Record>
  void timed(Record const& r) {
    ++others;
    promise(r.duration.value >= 0);
  }
  void graph(graph_record const& r) override { timed(r); }
  void copy(copy_record const& r) override { timed(r); }
  void set(memset_record const& r) override { timed(r); }
  void api(api_record const& r) override {
    timed(r);
    promise(raw(r.name) != 0);
  }
  void sync(sync_record const& r) override { timed(r); }
  void memory(memory_record const&) override { ++others; }
  void unified_memory(unified_memory_record const& r) override { timed(r); }
};

/// As a CUPTI that knows the first 700 calls.
CUptiResult callback_name(CUpti_CallbackDomain, std::uint32_t id, char const** name) {
  static std::string const texts[] = {"cuLaunchKernel", "cudaMemcpyAsync", ""};
  if (id >= 700) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = texts[id % 3].c_str();
  return CUPTI_SUCCESS;
}

char const* kernel_name(std::uint64_t choice) {
  static std::string const long_one(10'000, 'k');
  static char const* const texts[] = {nullptr, "", "gemm", "_Z4gemmIfEvPT_i", long_one.c_str()};
  return texts[choice % std::size(texts)];
}

void make_valid(CUpti_Activity* record, std::size_t offset) {
  auto* const at = reinterpret_cast<std::uint8_t*>(record) + offset;
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  value &= 0x7fffffff;  // CUPTI's enums reach to there; reading more is undefined
  std::memcpy(at, &value, sizeof value);
}

/// Replaces what CUPTI would never hand out and no code could read: pointers into nowhere, enums
/// beyond their range.
void tame(CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      auto* const kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
      kernel->name = kernel_name(reinterpret_cast<std::uintptr_t>(kernel->name));
      break;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      make_valid(record, offsetof(CUpti_ActivitySynchronization2, type));
      break;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      make_valid(record, offsetof(CUpti_ActivityMemory4, memoryOperationType));
      make_valid(record, offsetof(CUpti_ActivityMemory4, memoryKind));
      make_valid(record, offsetof(CUpti_ActivityMemory4, memoryPoolConfig.memoryPoolType));
      break;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      make_valid(record, offsetof(CUpti_ActivityUnifiedMemoryCounter3, counterKind));
      break;
    default:
      break;
  }
}

/// As CUPTI's buffers: aligned, and not a byte longer than what is used.
class buffer {
 public:
  explicit buffer(std::span<std::uint8_t const> content)
      : size_(content.size()),
        bytes_(static_cast<std::uint8_t*>(::operator new (size_ + 1, std::align_val_t{8}))) {
    if (size_ > 0) std::memcpy(bytes_, content.data(), size_);
    // The last kind in the buffer may be cut: the walker reads whole ones alone.
    CUpti_Activity* record = nullptr;
    for (std::size_t at = 0; at + sizeof(CUpti_ActivityKind) <= size_;) {
      auto* const next = reinterpret_cast<CUpti_Activity*>(bytes_ + at);
      make_valid(next, 0);
      if (test::next_record_by_size(bytes_, size_, &record) != CUPTI_SUCCESS) break;
      tame(record);
      at += test::record_size(record->kind);
    }
  }
  ~buffer() { ::operator delete (bytes_, std::align_val_t{8}); }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;

  std::span<std::uint8_t> content() { return {bytes_, size_}; }

 private:
  std::size_t const size_;
  std::uint8_t* const bytes_;
};

}  // namespace

std::size_t decode_activity(std::span<std::uint8_t const> input) {
  constexpr unsigned versions[] = {19, 24, 27, cupti_version::cuda_13_0, 130001};
  auto const version = input.empty() ? 0u : versions[input[0] % std::size(versions)];
  if (!input.empty()) input = input.subspan(1);
  buffer records(input);

  cupti_api cupti;
  cupti.cuptiActivityGetNextRecord = test::next_record_by_size;
  cupti.cuptiGetCallbackName = callback_name;
  name_registry names;
  checking_sink sink;
  kernel_names kernels(names);
  launch_table launches(1);
  activity_decoder decoder(cupti, version, names, kernels, launches, sink);
  decoder.decode(records.content());
  auto const first = decoder.records();
  auto const shapes = sink.shapes;
  decoder.decode(records.content());

  auto const& lost = decoder.losses();
  promise(sink.shapes == shapes);  // the second time nothing is new
  promise(decoder.records() == 2 * first);
  promise(decoder.records() ==
          sink.kernels + sink.others + lost.others_without_time + lost.unknown_kinds);
  promise(lost.kernels_without_time == sink.kernels_without_time);
  promise(decoder.losses().kernels_without_shape == 0);
  promise(lost.broken_buffers == 0 || lost.broken_buffers == 2);
  return first;
}

}  // namespace gpuprof::fuzz
