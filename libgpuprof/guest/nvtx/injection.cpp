// SPDX-License-Identifier: Apache-2.0
// Attaches this library to the NVTX copy inside a shared object.
#include "guest/nvtx/injection.hpp"

#include "base/own_arithmetic.hpp"
#include "guest/nvtx/handles.hpp"
#include "guest/nvtx/headers.hpp"
#include "guest/nvtx/labels.hpp"
#include "guest/nvtx/payload_events.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/nvtx/text.hpp"
#include "guest/nvtx/ticks.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

namespace gpuprof::guest {
namespace {

name_id read_message(name_cache& cache, nvtxEventAttributes_t const& from) noexcept {
  switch (from.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return intern_text(cache, from.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return intern_text(cache, from.message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return name_of_handle(handle_kind::text, from.message.registered).value_or(name_id{});
    default:
      return {};
  }
}

/// A signaling NaN would trap. Volatile, because the compiler may otherwise move the conversion out
/// of the block.
std::uint64_t bits_of_double(float value) noexcept {
  own_arithmetic const exact;
  double const volatile converted = value;
  return std::bit_cast<std::uint64_t>(double{converted});
}

void set_payload(event_text& text, payload_kind kind, std::uint64_t bits) noexcept {
  text.payload = kind;
  text.payload_bits = bits;
}

void read_payload(thread_log& log, event_text& text, nvtxEventAttributes_t const& from) noexcept {
  auto const& value = from.payload;
  switch (static_cast<std::uint32_t>(from.payloadType)) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return set_payload(text, payload_kind::unsigned64, value.ullValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return set_payload(text, payload_kind::unsigned64, value.uiValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return set_payload(text, payload_kind::signed64, value.ullValue);
    case NVTX_PAYLOAD_TYPE_INT32:
      return set_payload(text, payload_kind::signed64,
                         static_cast<std::uint64_t>(std::int64_t{value.iValue}));
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return set_payload(text, payload_kind::float64, std::bit_cast<std::uint64_t>(value.dValue));
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return set_payload(text, payload_kind::float64, bits_of_double(value.fValue));
    case static_cast<std::uint32_t>(NVTX_PAYLOAD_TYPE_EXT):
      return read_extended_payload(
          log, text,
          reinterpret_cast<nvtxPayloadData_t const*>(static_cast<std::uintptr_t>(value.ullValue)),
          static_cast<std::uint32_t>(from.reserved0));
    default:
      return;
  }
}

/// Reads attributes of any version and size. `attributes` may be null, which means an event without
/// a name.
event_text read_attributes(thread_log& log, name_id domain,
                           nvtxEventAttributes_v2 const* attributes) noexcept {
  event_text text{.domain = domain};
  if (attributes == nullptr) return text;
  // `size` says how much of the struct the program knows. The first fields exist since version 1.
  // If the program left size unset, the struct cannot be read safely.
  auto const size = attributes->size;
  if (size < offsetof(nvtxEventAttributes_t, colorType)) return text;
  if (size >= sizeof(nvtxEventAttributes_t)) {
    text.name = read_message(log.names, *attributes);
    text.category = attributes->category;
    if (attributes->colorType == NVTX_COLOR_ARGB) text.color = attributes->color;
    if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN) read_payload(log, text, *attributes);
    return text;
  }
  nvtxEventAttributes_t whole{};  // an older struct is shorter: missing fields are zero
  std::memcpy(&whole, attributes, size);
  whole.size = sizeof whole;
  return read_attributes(log, domain, &whole);
}

// All callbacks below run on threads of the program. In a forked child there is no log: they then
// return that nothing is tracked.

template <class Message>
int push_text(Message const* message) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  return push_range(*log, {.name = intern_text(log->names, message)});
}
template <class Message>
nvtxRangeId_t start_text(Message const* message) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return 0;
  return raw(start_range(*log, {.name = intern_text(log->names, message)}));
}
template <class Message>
void mark_with_text(Message const* message) noexcept {
  auto* const log = this_thread_log();
  if (log != nullptr) mark(*log, {.name = intern_text(log->names, message)});
}

int domain_push(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* attributes) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  return push_range(*log, read_attributes(*log, domain_of_handle(domain), attributes));
}
int domain_pop(nvtxDomainHandle_t domain) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  return pop_range(*log, domain_of_handle(domain));
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain,
                           nvtxEventAttributes_t const* attributes) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return 0;
  return raw(start_range(*log, read_attributes(*log, domain_of_handle(domain), attributes)));
}
void domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) noexcept {
  auto* const log = this_thread_log();
  if (log != nullptr && id != 0) end_range(*log, static_cast<range_id>(id));
}
void domain_mark(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* attributes) noexcept {
  auto* const log = this_thread_log();
  if (log != nullptr) mark(*log, read_attributes(*log, domain_of_handle(domain), attributes));
}

int push_ex(nvtxEventAttributes_t const* attributes) noexcept {
  return domain_push(nullptr, attributes);
}
int pop() noexcept {
  return domain_pop(nullptr);
}
nvtxRangeId_t start_ex(nvtxEventAttributes_t const* attributes) noexcept {
  return domain_start(nullptr, attributes);
}
void end(nvtxRangeId_t id) noexcept {
  domain_end(nullptr, id);
}
void mark_ex(nvtxEventAttributes_t const* attributes) noexcept {
  domain_mark(nullptr, attributes);
}

template <class Text>
void domain_name_category(nvtxDomainHandle_t domain, std::uint32_t category,
                          Text const* name) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return;
  labels().name_category(domain_of_handle(domain), category, intern_text(log->names, name));
}
template <class Text>
void name_category(std::uint32_t category, Text const* name) noexcept {
  domain_name_category(nullptr, category, name);
}
template <class Text>
void name_os_thread(std::uint32_t os_thread, Text const* name) noexcept {
  auto* const log = this_thread_log();
  if (log != nullptr) labels().name_thread(os_thread, intern_text(log->names, name));
}

// If there is no log (forked child, no memory), a new domain or string gets the null handle. NVTX
// programs see the same if no tool is attached.
template <class Text>
nvtxDomainHandle_t create_domain(Text const* name) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return nullptr;
  auto const domain = intern_text(log->names, name);
  domains().created(domain);
  return make_handle<nvtxDomainHandle_t>(handle_kind::domain, raw(domain));
}
// Pushed ranges of the domain on this thread end here, because a pop may never come. On other
// threads they end when the thread pushes its next range. Started ranges stay open, since any
// thread may still end them.
void destroy_domain(nvtxDomainHandle_t handle) noexcept {
  auto const domain = name_of_handle(handle_kind::domain, handle);
  auto* const log = this_thread_log();
  if (log == nullptr || !domain) return;
  domains().destroyed(*domain, read_ticks());
  end_ranges_of_gone_domains(*log);
}

template <class Text>
nvtxStringHandle_t register_string(nvtxDomainHandle_t, Text const* text) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr) return nullptr;
  return make_handle<nvtxStringHandle_t>(handle_kind::text, raw(intern_text(log->names, text)));
}

// Only names of OS threads are recorded, not of other resources.
nvtxResourceHandle_t create_resource(nvtxDomainHandle_t,
                                     nvtxResourceAttributes_t* attributes) noexcept {
  auto* const log = this_thread_log();
  if (log == nullptr || attributes == nullptr || attributes->size < sizeof *attributes) {
    return nullptr;
  }
  auto name = name_id{};
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    name = intern_text(log->names, attributes->message.ascii);
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    name = intern_text(log->names, attributes->message.unicode);
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    name = name_of_handle(handle_kind::text, attributes->message.registered).value_or(name_id{});
  }
  if (attributes->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE) {
    labels().name_thread(static_cast<std::uint32_t>(attributes->identifier.ullValue), name);
  }
  return make_handle<nvtxResourceHandle_t>(handle_kind::resource, raw(name));
}
void destroy_resource(nvtxResourceHandle_t) noexcept {}
void initialize(void const*) noexcept {}

/// The function slots of one NVTX module inside the program.
struct slot_table {
  NvtxFunctionTable slots = nullptr;
  unsigned int size = 0;

  template <class Function>
  void set(unsigned int id, Function* function) const noexcept {
    // An older NVTX has a shorter table. A null entry is a function that it does not know.
    if (id < size && slots[id] != nullptr) {
      *slots[id] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
  }
};

void fill_core(slot_table const& core) noexcept {
  core.set(NVTX_CBID_CORE_MarkEx, mark_ex);
  core.set(NVTX_CBID_CORE_MarkA, mark_with_text<char>);
  core.set(NVTX_CBID_CORE_MarkW, mark_with_text<wchar_t>);
  core.set(NVTX_CBID_CORE_RangeStartEx, start_ex);
  core.set(NVTX_CBID_CORE_RangeStartA, start_text<char>);
  core.set(NVTX_CBID_CORE_RangeStartW, start_text<wchar_t>);
  core.set(NVTX_CBID_CORE_RangeEnd, end);
  core.set(NVTX_CBID_CORE_RangePushEx, push_ex);
  core.set(NVTX_CBID_CORE_RangePushA, push_text<char>);
  core.set(NVTX_CBID_CORE_RangePushW, push_text<wchar_t>);
  core.set(NVTX_CBID_CORE_RangePop, pop);
  core.set(NVTX_CBID_CORE_NameCategoryA, name_category<char>);
  core.set(NVTX_CBID_CORE_NameCategoryW, name_category<wchar_t>);
  core.set(NVTX_CBID_CORE_NameOsThreadA, name_os_thread<char>);
  core.set(NVTX_CBID_CORE_NameOsThreadW, name_os_thread<wchar_t>);
}

void fill_core2(slot_table const& core2) noexcept {
  core2.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  core2.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  core2.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  core2.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  core2.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  core2.set(NVTX_CBID_CORE2_DomainResourceCreate, create_resource);
  core2.set(NVTX_CBID_CORE2_DomainResourceDestroy, destroy_resource);
  core2.set(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category<char>);
  core2.set(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category<wchar_t>);
  core2.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>);
  core2.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>);
  core2.set(NVTX_CBID_CORE2_DomainCreateA, create_domain<char>);
  core2.set(NVTX_CBID_CORE2_DomainCreateW, create_domain<wchar_t>);
  core2.set(NVTX_CBID_CORE2_DomainDestroy, destroy_domain);
  core2.set(NVTX_CBID_CORE2_Initialize, initialize);
}

slot_table slots_of(NvtxExportTableCallbacks const& callbacks, NvtxCallbackModule module) noexcept {
  slot_table table;
  if (callbacks.GetModuleFunctionTable(module, &table.slots, &table.size) == 0) return {};
  return table.slots == nullptr ? slot_table{} : table;
}

}  // namespace

int inject_nvtx(NvtxGetExportTableFunc_t get_export_table) noexcept {
  if (get_export_table == nullptr) return 0;
  auto const* const callbacks =
      static_cast<NvtxExportTableCallbacks const*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks ||
      callbacks->GetModuleFunctionTable == nullptr) {
    return 0;
  }
  fill_core(slots_of(*callbacks, NVTX_CB_MODULE_CORE));
  fill_core2(slots_of(*callbacks, NVTX_CB_MODULE_CORE2));
  auto const* const version =
      static_cast<NvtxExportTableVersionInfo const*>(get_export_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof *version &&
      version->SetInjectionNvtxVersion != nullptr) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  return 1;
}

}  // namespace gpuprof::guest
