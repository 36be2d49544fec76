// SPDX-License-Identifier: Apache-2.0
// One recorded run of a CUDA program: what CUPTI and NVTX said, free of pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::replay {

enum class event_kind : std::uint8_t { call = 0, resource = 1, nvtx = 2 };

/// One callback. Which numbers mean what depends on the kind; those not named there are 0.
struct event {
  std::uint64_t time = 0;    // CLOCK_REALTIME in ns
  std::uint32_t thread = 0;  // index into recording::threads
  event_kind kind{};
  /// call: callback id of the driver domain; resource: CUpti_CallbackIdResource; nvtx: nvtx_code().
  std::uint32_t code = 0;
  std::uint32_t site = 0;         // call: CUpti_ApiCallbackSite
  std::uint32_t correlation = 0;  // call
  std::uint32_t context = 0;      // call and context resources: unique id of the context
  std::int64_t result = 0;        // call at exit: CUresult
  /// call: symbol name. nvtx: message, or name of a domain, category or thread. Index of a string.
  std::uint32_t text = 0;
  std::uint32_t domain = 0;      // nvtx: ordinal of the domain; 0 is the default domain
  std::uint32_t object = 0;      // nvtx: ordinal of the range, domain or string made or ended
  std::uint32_t registered = 0;  // nvtx: ordinal of the registered string that is the message
  std::uint32_t category = 0;    // nvtx; for nvtxNameOsThread the thread's id
  std::uint32_t color = 0;
  std::uint32_t color_type = 0;
  std::uint32_t message_type = 0;  // nvtx: nvtxMessageType_t
  std::uint32_t payload_type = 0;
  std::uint64_t payload_bits = 0;
};

/// NVTX functions by module and the id NVTX gives them there.
inline constexpr std::uint32_t nvtx_core2 = 32;
constexpr std::uint32_t nvtx_code(bool core2, unsigned id) {
  return (core2 ? nvtx_core2 : 0) + id;
}

struct thread_entry {
  std::uint32_t os_thread = 0;
  std::uint32_t name = 0;  // index of a string
};

/// A buffer as CUPTI handed it back: how many of the following records it held.
struct buffer_entry {
  std::uint64_t time = 0;
  std::uint64_t size = 0, used = 0;
  std::uint64_t records = 0;
};

/// Activity records as CUPTI wrote them, back to back, each pointer to a text replaced by the index
/// of a string and every other pointer by 0.
struct record_stream {
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> sizes;

  std::size_t count() const noexcept { return sizes.size(); }
  void add(std::span<std::byte const> record) {
    bytes.insert(bytes.end(), record.begin(), record.end());
    sizes.push_back(static_cast<std::uint32_t>(record.size()));
  }
};

/// Facts are "host", "program", "cupti_version", "driver_version", "cuda_version", "recorded",
/// "device_count" and "device.N.name", ".uuid", ".sm_count" and so on.
struct recording {
  std::map<std::string, std::string> facts;
  std::vector<std::string> strings{""};  // index 0: no text
  std::vector<thread_entry> threads;
  std::vector<event> events;  // by time
  std::vector<buffer_entry> buffers;
  record_stream records;

  std::string fact(std::string const& key) const {
    auto const found = facts.find(key);
    return found == facts.end() ? std::string{} : found->second;
  }
  unsigned long number(std::string const& key) const {
    auto const text = fact(key);
    return text.empty() ? 0 : std::stoul(text);
  }
};

/// Gives texts their index in recording::strings. Not thread-safe.
class string_index {
 public:
  explicit string_index(std::vector<std::string>& strings) : strings_(strings) {
    for (std::size_t i = 1; i < strings_.size(); ++i)
      known_[strings_[i]] = static_cast<unsigned>(i);
  }
  std::uint32_t of(std::string_view text) {
    if (text.empty()) return 0;
    auto const [place, fresh] =
        known_.try_emplace(std::string(text), static_cast<std::uint32_t>(strings_.size()));
    if (fresh) strings_.emplace_back(text);
    return place->second;
  }

 private:
  std::vector<std::string>& strings_;
  std::unordered_map<std::string, std::uint32_t> known_;
};

}  // namespace gpuprof::replay
