// SPDX-License-Identifier: Apache-2.0
// Hand-made activity records, and buffers of them as CUPTI would hand them back.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

namespace gpuprof::test {

/// As CUPTI's buffers: aligned, zeroed, filled from the front.
class record_buffer {
 public:
  explicit record_buffer(std::size_t bytes = 64 << 10)
      : bytes_(static_cast<std::uint8_t*>(::operator new (bytes, std::align_val_t{8}))),
        size_(bytes) {
    std::memset(bytes_, 0, size_);
  }
  ~record_buffer() { ::operator delete (bytes_, std::align_val_t{8}); }
  record_buffer(record_buffer const&) = delete;
  record_buffer& operator=(record_buffer const&) = delete;

  /// False when it does not fit.
  template <class Record>
  bool add(Record const& record) {
    static_assert(std::is_trivially_copyable_v<Record>);
    if (used_ + sizeof record > size_) return false;
    std::memcpy(bytes_ + used_, &record, sizeof record);
    used_ += sizeof record;
    return true;
  }
  template <class... Records>
  void add_all(Records const&... records) {
    (add(records), ...);
  }
  void cut(std::size_t bytes) { used_ -= bytes; }

  std::span<std::uint8_t> used() { return {bytes_, used_}; }
  std::span<std::uint8_t> all() { return {bytes_, size_}; }

 private:
  std::uint8_t* bytes_;
  std::size_t size_;
  std::size_t used_ = 0;
};

/// A kernel with a value of its own in every field that is read.
template <class Kernel = CUpti_ActivityKernel10>
Kernel kernel_record_of(char const* name, std::uint32_t correlation, std::uint64_t start = 1000,
                        std::uint64_t end = 1500) {
  Kernel k{};
  k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  k.start = start;
  k.end = end;
  k.name = name;
  k.correlationId = correlation;
  k.gridX = 11, k.gridY = 12, k.gridZ = 13;
  k.blockX = 32, k.blockY = 2, k.blockZ = 3;
  k.clusterX = 4, k.clusterY = 5, k.clusterZ = 6;
  k.registersPerThread = 77;
  k.staticSharedMemory = 256;
  k.dynamicSharedMemory = 512;
  k.localMemoryPerThread = 16;
  k.localMemoryTotal_v2 = 1ull << 33;
  k.launchType = 1;
  k.maxActiveClusters = 9;
  k.deviceId = 1;
  k.contextId = 2;
  k.streamId = 7;
  k.graphId = 21;
  k.graphNodeId = (1ull << 40) + 5;
  return k;
}

template <class Copy = CUpti_ActivityMemcpy6>
Copy copy_record_of(std::uint32_t correlation, std::uint64_t bytes = 4096) {
  Copy c{};
  c.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  c.start = 2000;
  c.end = 2600;
  c.bytes = bytes;
  c.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  c.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  c.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  c.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  c.deviceId = 1;
  c.contextId = 2;
  c.streamId = 7;
  c.correlationId = correlation;
  c.graphId = 3;
  c.graphNodeId = 4;
  return c;
}

inline CUpti_ActivityMemset4 set_record_of(std::uint32_t correlation) {
  CUpti_ActivityMemset4 m{};
  m.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  m.start = 3000;
  m.end = 3100;
  m.bytes = 1 << 20;
  m.value = 0xab;
  m.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  m.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
  m.deviceId = 1;
  m.contextId = 2;
  m.streamId = 7;
  m.correlationId = correlation;
  m.graphId = 3;
  m.graphNodeId = 4;
  return m;
}

inline CUpti_ActivityAPI api_record_of(bool driver, std::uint32_t cbid, std::uint32_t correlation,
                                       std::uint32_t result = 0) {
  CUpti_ActivityAPI a{};
  a.kind = driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
  a.cbid = cbid;
  a.start = 900;
  a.end = 950;
  a.threadId = 4321;
  a.correlationId = correlation;
  a.returnValue = result;
  return a;
}

}  // namespace gpuprof::test
