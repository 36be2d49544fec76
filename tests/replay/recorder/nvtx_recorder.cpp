// SPDX-License-Identifier: Apache-2.0
#include "replay/recorder/nvtx_recorder.hpp"

#include "replay/recorder/session_log.hpp"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace gpuprof::replay {
namespace {

std::uint32_t keep(char const* text) {
  return text != nullptr ? session_log::get().text(text) : 0;
}

std::uint32_t keep(wchar_t const* text) {
  std::string utf8;
  for (; text != nullptr && *text != 0; ++text) {
    auto const c = static_cast<char32_t>(*text);
    auto const tail = [&](unsigned shift) {
      utf8 += static_cast<char>(0x80 | ((c >> shift) & 0x3f));
    };
    if (c < 0x80) {
      utf8 += static_cast<char>(c);
    } else if (c < 0x800) {
      utf8 += static_cast<char>(0xc0 | (c >> 6));
      tail(0);
    } else if (c < 0x10000) {
      utf8 += static_cast<char>(0xe0 | (c >> 12));
      tail(6);
      tail(0);
    } else {
      utf8 += static_cast<char>(0xf0 | (c >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }
  return session_log::get().text(utf8);
}

/// Domains and registered strings are handed to the program as their ordinals.
template <class Handle>
Handle handle_of(std::uint32_t ordinal) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(ordinal));
}
std::uint32_t ordinal_of(void const* handle) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
}

event call(bool core2, unsigned id) {
  event e;
  e.kind = event_kind::nvtx;
  e.code = nvtx_code(core2, id);
  return e;
}

void describe(event& e, nvtxEventAttributes_t const* a) {
  // Version 1 ends where version 2 does; anything shorter is not an attributes struct.
  if (a == nullptr || a->size < sizeof(nvtxEventAttributes_t)) return;
  e.category = a->category;
  e.color_type = static_cast<std::uint32_t>(a->colorType);
  e.color = a->color;
  if (a->payloadType >= 0 && a->payloadType <= NVTX_PAYLOAD_TYPE_FLOAT) {
    e.payload_type = static_cast<std::uint32_t>(a->payloadType);
    e.payload_bits = a->payload.ullValue;
  }
  e.message_type = static_cast<std::uint32_t>(a->messageType);
  switch (a->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      e.text = keep(a->message.ascii);
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      e.text = keep(a->message.unicode);
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      e.registered = ordinal_of(a->message.registered);
      break;
    default:
      break;
  }
}

void add(event const& e) {
  session_log::get().add(e);
}

template <unsigned Id, class Text>
void mark_text(Text const* text) noexcept {
  auto e = call(false, Id);
  e.text = keep(text);
  add(e);
}
template <unsigned Id, class Text>
int push_text(Text const* text) noexcept {
  mark_text<Id>(text);
  return 0;
}
template <unsigned Id, class Text>
nvtxRangeId_t start_text(Text const* text) noexcept {
  auto e = call(false, Id);
  e.text = keep(text);
  e.object = session_log::get().next_range();
  add(e);
  return e.object;
}
template <unsigned Id, class Text>
void name_text(std::uint32_t number, Text const* text) noexcept {
  auto e = call(false, Id);
  e.category = number;
  e.text = keep(text);
  add(e);
}

void mark_ex(nvtxEventAttributes_t const* a) noexcept {
  auto e = call(false, NVTX_CBID_CORE_MarkEx);
  describe(e, a);
  add(e);
}
nvtxRangeId_t start_ex(nvtxEventAttributes_t const* a) noexcept {
  auto e = call(false, NVTX_CBID_CORE_RangeStartEx);
  describe(e, a);
  e.object = session_log::get().next_range();
  add(e);
  return e.object;
}
void end(nvtxRangeId_t id) noexcept {
  auto e = call(false, NVTX_CBID_CORE_RangeEnd);
  e.object = static_cast<std::uint32_t>(id);
  if (e.object != 0) add(e);
}
int push_ex(nvtxEventAttributes_t const* a) noexcept {
  auto e = call(false, NVTX_CBID_CORE_RangePushEx);
  describe(e, a);
  add(e);
  return 0;
}
int pop() noexcept {
  add(call(false, NVTX_CBID_CORE_RangePop));
  return 0;
}

void domain_mark(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* a) noexcept {
  auto e = call(true, NVTX_CBID_CORE2_DomainMarkEx);
  e.domain = ordinal_of(domain);
  describe(e, a);
  add(e);
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* a) noexcept {
  auto e = call(true, NVTX_CBID_CORE2_DomainRangeStartEx);
  e.domain = ordinal_of(domain);
  describe(e, a);
  e.object = session_log::get().next_range();
  add(e);
  return e.object;
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) noexcept {
  auto e = call(true, NVTX_CBID_CORE2_DomainRangeEnd);
  e.domain = ordinal_of(domain);
  e.object = static_cast<std::uint32_t>(id);
  if (e.object != 0) add(e);
}
int domain_push(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* a) noexcept {
  auto e = call(true, NVTX_CBID_CORE2_DomainRangePushEx);
  e.domain = ordinal_of(domain);
  describe(e, a);
  add(e);
  return 0;
}
int domain_pop(nvtxDomainHandle_t domain) noexcept {
  auto e = call(true, NVTX_CBID_CORE2_DomainRangePop);
  e.domain = ordinal_of(domain);
  add(e);
  return 0;
}
template <unsigned Id, class Text>
void domain_name_category(nvtxDomainHandle_t domain, std::uint32_t number,
                          Text const* text) noexcept {
  auto e = call(true, Id);
  e.domain = ordinal_of(domain);
  e.category = number;
  e.text = keep(text);
  add(e);
}
template <unsigned Id, class Text>
nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, Text const* text) noexcept {
  auto e = call(true, Id);
  e.domain = ordinal_of(domain);
  e.text = keep(text);
  e.object = session_log::get().next_registered();
  add(e);
  return handle_of<nvtxStringHandle_t>(e.object);
}
template <unsigned Id, class Text>
nvtxDomainHandle_t create_domain(Text const* text) noexcept {
  auto e = call(true, Id);
  e.text = keep(text);
  e.object = session_log::get().next_domain();
  add(e);
  return handle_of<nvtxDomainHandle_t>(e.object);
}
void destroy_domain(nvtxDomainHandle_t domain) noexcept {
  auto e = call(true, NVTX_CBID_CORE2_DomainDestroy);
  e.domain = ordinal_of(domain);
  add(e);
}

struct slot_table {
  NvtxFunctionTable slots = nullptr;
  unsigned int size = 0;

  template <class Function>
  void set(unsigned id, Function* function) const {
    if (id < size && slots[id] != nullptr) {
      *slots[id] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
  }
};

slot_table table_of(NvtxExportTableCallbacks const& callbacks, NvtxCallbackModule module) {
  slot_table t;
  if (callbacks.GetModuleFunctionTable(module, &t.slots, &t.size) == 0) return {};
  return t;
}

void fill_core(slot_table const& t) {
  t.set(NVTX_CBID_CORE_MarkEx, mark_ex);
  t.set(NVTX_CBID_CORE_MarkA, mark_text<NVTX_CBID_CORE_MarkA, char>);
  t.set(NVTX_CBID_CORE_MarkW, mark_text<NVTX_CBID_CORE_MarkW, wchar_t>);
  t.set(NVTX_CBID_CORE_RangeStartEx, start_ex);
  t.set(NVTX_CBID_CORE_RangeStartA, start_text<NVTX_CBID_CORE_RangeStartA, char>);
  t.set(NVTX_CBID_CORE_RangeStartW, start_text<NVTX_CBID_CORE_RangeStartW, wchar_t>);
  t.set(NVTX_CBID_CORE_RangeEnd, end);
  t.set(NVTX_CBID_CORE_RangePushEx, push_ex);
  t.set(NVTX_CBID_CORE_RangePushA, push_text<NVTX_CBID_CORE_RangePushA, char>);
  t.set(NVTX_CBID_CORE_RangePushW, push_text<NVTX_CBID_CORE_RangePushW, wchar_t>);
  t.set(NVTX_CBID_CORE_RangePop, pop);
  t.set(NVTX_CBID_CORE_NameCategoryA, name_text<NVTX_CBID_CORE_NameCategoryA, char>);
  t.set(NVTX_CBID_CORE_NameCategoryW, name_text<NVTX_CBID_CORE_NameCategoryW, wchar_t>);
  t.set(NVTX_CBID_CORE_NameOsThreadA, name_text<NVTX_CBID_CORE_NameOsThreadA, char>);
  t.set(NVTX_CBID_CORE_NameOsThreadW, name_text<NVTX_CBID_CORE_NameOsThreadW, wchar_t>);
}

void fill_core2(slot_table const& t) {
  t.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  t.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  t.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  t.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  t.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  t.set(NVTX_CBID_CORE2_DomainNameCategoryA,
        domain_name_category<NVTX_CBID_CORE2_DomainNameCategoryA, char>);
  t.set(NVTX_CBID_CORE2_DomainNameCategoryW,
        domain_name_category<NVTX_CBID_CORE2_DomainNameCategoryW, wchar_t>);
  t.set(NVTX_CBID_CORE2_DomainRegisterStringA,
        register_string<NVTX_CBID_CORE2_DomainRegisterStringA, char>);
  t.set(NVTX_CBID_CORE2_DomainRegisterStringW,
        register_string<NVTX_CBID_CORE2_DomainRegisterStringW, wchar_t>);
  t.set(NVTX_CBID_CORE2_DomainCreateA, create_domain<NVTX_CBID_CORE2_DomainCreateA, char>);
  t.set(NVTX_CBID_CORE2_DomainCreateW, create_domain<NVTX_CBID_CORE2_DomainCreateW, wchar_t>);
  t.set(NVTX_CBID_CORE2_DomainDestroy, destroy_domain);
}

}  // namespace

int record_nvtx(get_export_table get) noexcept {
  if (get == nullptr) return 0;
  auto const* const callbacks =
      static_cast<NvtxExportTableCallbacks const*>(get(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable == nullptr) return 0;
  fill_core(table_of(*callbacks, NVTX_CB_MODULE_CORE));
  fill_core2(table_of(*callbacks, NVTX_CB_MODULE_CORE2));
  return 1;
}

}  // namespace gpuprof::replay
