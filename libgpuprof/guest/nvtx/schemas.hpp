// SPDX-License-Identifier: Apache-2.0
// The layouts of extended payloads that a program has registered, copied out of its memory.
#pragma once

#include "model/ids.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct schema_entry {
  std::uint64_t flags = 0;  // NVTX_PAYLOAD_ENTRY_FLAG_*
  std::uint64_t type = 0;   // NVTX_PAYLOAD_ENTRY_TYPE_* or the id of a schema or enum
  std::string name;
  std::uint64_t detail = 0;  // length of an array or string, or index of the entry that holds it
  std::uint64_t offset = 0;  // 0: use the alignment rules
};

struct enum_value {
  std::string name;
  std::uint64_t value = 0;
  bool is_flag = false;
};

struct payload_schema {
  enum class kind : std::uint8_t { structure, choice, enumeration };

  name_id domain{};
  std::uint64_t id = 0;  // 0: add() chooses one
  kind what = kind::structure;
  std::string name;
  std::vector<schema_entry> entries;
  std::vector<enum_value> values;
  std::uint64_t size = 0;        // as declared; 0: from the entries, filled in by add()
  std::uint64_t pack_align = 0;  // 0: natural alignment
  std::uint64_t align = 1;       // filled in by add()
};

/// Size and alignment of a predefined entry type. The size is 0 if the type is unknown.
struct type_layout {
  std::uint32_t size = 0;
  std::uint32_t align = 1;
};
type_layout layout_of_predefined(std::uint64_t type) noexcept;

/// Can be used on any thread. Reading takes no lock. Schemas live as long as this object. The
/// number is limited: add() returns 0 beyond it.
class payload_schemas {
 public:
  static constexpr std::size_t max_schemas = 4096;
  static constexpr std::size_t max_entries = 1024;  // limit for one schema; the rest is cut

  payload_schemas() = default;
  ~payload_schemas() {
    for (auto& schema : schemas_) delete schema.load();
  }

  /// Returns the id of the schema. An id chosen by the program replaces an earlier one of the same
  /// domain.
  std::uint64_t add(payload_schema schema) noexcept;

  /// Returns nullptr if not registered. Dynamic ids are valid in any domain.
  payload_schema const* find(name_id domain, std::uint64_t id) const noexcept;

 private:
  void complete(payload_schema& schema) const noexcept;

  std::mutex adding_;
  std::atomic<std::size_t> size_{0};
  std::array<std::atomic<payload_schema const*>, max_schemas> schemas_{};
};

inline std::uint64_t align_up(std::uint64_t offset, std::uint64_t align) noexcept {
  return align <= 1 ? offset : (offset + align - 1) / align * align;
}

}  // namespace gpuprof::guest
