// SPDX-License-Identifier: Apache-2.0
// A program full of NVTX calls: calls_program SCENE.
#include <gpuprof/gpuprof.hpp>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

nvtxEventAttributes_t attributes_of(char const* name) {
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = name;
  return a;
}

void expect(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "calls_program: %s\n", what);
  std::exit(3);
}

void core() {
  expect(nvtxRangePushA("outer") == 0, "level of outer");
  expect(nvtxRangePushW(L"inner \u00fc \U0001F600") == 1, "level of inner");
  nvtxMarkA("here");
  nvtxMarkW(L"w\u00edde");
  expect(nvtxRangePop() == 1, "level of pop");
  expect(nvtxRangePop() == 0, "level of second pop");
  auto a = attributes_of("full");
  a.category = 3;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = 0xff112233;
  a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  a.payload.iValue = -5;
  nvtxRangePushEx(&a);
  nvtxRangePop();
  nvtxMarkEx(&a);
  auto const id = nvtxRangeStartA("started");
  auto const wide = nvtxRangeStartW(L"started wide");
  auto const full = nvtxRangeStartEx(&a);
  nvtxRangeEnd(id);
  nvtxRangeEnd(full);
  nvtxRangeEnd(wide);
  nvtxNameCategoryA(3, "io");
  nvtxNameCategoryW(4, L"d\u00efsk");
  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), "main thread");
}

void payload_kinds() {
  auto a = attributes_of("p");
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  a.payload.ullValue = ~0ull;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = -1;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  a.payload.dValue = 2.5;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  a.payload.ullValue = 0;
  a.payload.uiValue = 7;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  a.payload.fValue = 0.5f;
  nvtxMarkEx(&a);
  a.payloadType = 12345;
  nvtxMarkEx(&a);
}

void domains() {
  auto const blas = nvtxDomainCreateA("blas");
  auto const wide = nvtxDomainCreateW(L"bl\u00e4s");
  expect(blas != nullptr, "domain handle");
  auto const text = nvtxDomainRegisterStringA(blas, "registered");
  auto const wide_text = nvtxDomainRegisterStringW(blas, L"r\u00ebg");
  auto a = attributes_of(nullptr);
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = text;
  expect(nvtxDomainRangePushEx(blas, &a) == 0, "level in blas");
  nvtxRangePushA("default domain");
  a.message.registered = wide_text;
  expect(nvtxDomainRangePushEx(blas, &a) == 1, "second level in blas");
  nvtxDomainMarkEx(wide, &a);
  nvtxDomainRangePop(blas);
  nvtxRangePop();
  nvtxDomainNameCategoryA(blas, 9, "nine");
  auto const id = nvtxDomainRangeStartEx(wide, &a);
  nvtxDomainDestroy(wide);  // with a range open
  nvtxDomainRangeEnd(wide, id);
  nvtxDomainDestroy(blas);
  nvtxDomainRangePop(blas);
  nvtxResourceAttributes_t r{};
  r.version = NVTX_VERSION;
  r.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
  r.identifier.ullValue = 4711;
  r.messageType = NVTX_MESSAGE_TYPE_ASCII;
  r.message.ascii = "by resource";
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(nullptr, &r));
}

void bad() {
  expect(nvtxRangePop() < 0, "pop of nothing");
  auto* const wild = reinterpret_cast<nvtxDomainHandle_t>(0x1234);
  auto a = attributes_of("wild domain");
  nvtxDomainRangePushEx(wild, &a);
  nvtxDomainRangePop(wild);
  nvtxRangePushA(nullptr);
  nvtxRangePop();
  nvtxRangePushW(nullptr);
  nvtxRangePop();
  nvtxRangePushEx(nullptr);
  nvtxRangePop();
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = reinterpret_cast<nvtxStringHandle_t>(0x5678);
  nvtxMarkEx(&a);
  a.message.registered = nullptr;
  nvtxMarkEx(&a);
  a.messageType = 77;
  nvtxMarkEx(&a);
  a = attributes_of("no size");
  a.size = 0;
  nvtxMarkEx(&a);
  a = attributes_of("half a struct");
  a.category = 6;
  a.size = 12;
  nvtxMarkEx(&a);
  a = attributes_of("null payload");
  a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  a.reserved0 = 1;
  nvtxMarkEx(&a);
  nvtxPayloadData_t data{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, sizeof(void*), nullptr};
  a.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
  nvtxMarkEx(&a);
  nvtxRangeEnd(12345);
  nvtxRangeEnd(0);
  nvtxDomainDestroy(wild);
  expect(nvtxPayloadSchemaRegister(nullptr, nullptr) == 0, "schema from null");
}

void many_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 1000; ++i) {
        nvtxRangePushA(("thread " + std::to_string(t)).c_str());
        nvtxRangePushA("inner");
        nvtxRangePop();
        nvtxRangePop();
      }
    });
  }
  for (auto& t : threads) t.join();
}

void plugin() {
  nvtxRangePushA("in program");
  for (int i = 0; i < 2; ++i) {
    void* const object = dlopen(std::getenv("NVTX_PLUGIN_PATH"), RTLD_NOW | RTLD_LOCAL);
    expect(object != nullptr, "plugin");
    reinterpret_cast<void (*)()>(dlsym(object, "plugin_work"))();
    dlclose(object);  // its NVTX goes with it; a second load attaches again
  }
  nvtxRangePop();
}

void extended() {
  auto const domain = nvtxDomainCreateA("ext");
  nvtxPayloadEnum_t const modes[] = {{"sum", 0, 0}, {"max", 1, 0}};
  nvtxPayloadEnumAttr_t mode{};
  mode.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                   NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  mode.entries = modes;
  mode.numEntries = 2;
  mode.sizeOfEnum = 4;
  auto const mode_id = nvtxPayloadEnumRegister(domain, &mode);
  struct transfer {
    std::uint64_t bytes;
    std::uint32_t mode;
    std::int32_t rank;
    char const* peer;
  } value{1024, 1, -1, "node \"7\""};
  nvtxPayloadSchemaEntry_t const entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", nullptr, 0, 0, nullptr, nullptr},
      {0, mode_id, "mode", nullptr, 0, 8, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "rank", nullptr, 0, 12, nullptr, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "peer", nullptr, 0,
       16, nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 4;
  schema.payloadStaticSize = sizeof(transfer);
  auto const id = nvtxPayloadSchemaRegister(domain, &schema);
  auto a = attributes_of("send");
  nvtxPayloadRangePush(domain, &a, id, &value, sizeof value);
  nvtxDomainRangePop(domain);
  nvtxPayloadData_t data{id, sizeof value, &value};
  expect(nvtxRangePushPayload(domain, &data, 1) == 0, "level of payload push");
  expect(nvtxRangePopPayload(domain, nullptr, 0) == 0, "level of payload pop");
  nvtxMarkPayload(domain, &data, 1);
  auto const plain = attributes_of("send");
  nvtxDomainRangePushEx(domain, &plain);
  schema.numEntries = 3;  // without the message
  nvtxPayloadData_t nameless{nvtxPayloadSchemaRegister(domain, &schema), sizeof value, &value};
  expect(nvtxRangePopPayload(domain, &nameless, 1) == 0, "level of pop with payload");
  expect(nvtxRangePopPayload(domain, &nameless, 1) < 0, "a pop too many with payload");
  nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, &data, 1), nullptr, 0);
  value.peer = reinterpret_cast<char const*>(0x10);  // nothing is mapped there
  nvtxMarkPayload(domain, &data, 1);
  expect(nvtxDomainIsEnabled(domain) == 1, "domain enabled");
}

void forked() {
  nvtxRangePushA("before fork");
  auto const child = fork();
  if (child == 0) {
    expect(nvtxRangePushA("in child") < 0, "push in child");
    expect(nvtxRangePop() < 0, "pop in child");
    nvtxNameCategoryA(1, "child");
    expect(nvtxDomainCreateA("child") == nullptr, "domain in child");
    expect(nvtxRangeStartA("child") == 0, "start in child");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child");
  nvtxRangePop();
}

struct last_words {
  ~last_words() {
    nvtxRangePushA("after main");
    nvtxRangePop();
  }
};

void destructors() {
  static last_words at_exit;
  std::thread([] {
    static thread_local last_words at_thread_end;
    (void)&at_thread_end;
    nvtxRangePushA("never popped");
  }).join();
}

void later() {
  nvtxRangePushA("epoch");
  auto const asynchronous = nvtxRangeStartA("async");
  nvtxRangePushA("skipped");
  nvtxRangePop();
  void* const tool = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  expect(tool != nullptr, "tool");
  reinterpret_cast<void (*)(int)>(dlsym(tool, "nvtx_dump_record"))(1);
  nvtxRangePushA("step");
  nvtxRangePop();
  nvtxRangeEnd(asynchronous);
  nvtxRangePop();
}

void markers() {
  gpuprof::scoped_range const whole;
  static gpuprof::domain const trainer("trainer");
  {
    gpuprof::scoped_range const gemm("gemm", gpuprof::work{2e9, 3e6}, gpuprof::color::green);
    gpuprof::scoped_range const step(trainer, "step", {1, 0});
  }
  gpuprof::range first("first", {5, 6});
  auto moved = std::move(first);
  gpuprof::range second(trainer, "second");
  second = std::move(moved);  // ends "second"
  std::thread([r = std::move(second)]() mutable { r.end(); }).join();
  gpuprof::mark("marked", gpuprof::rgb(1, 2, 3));
  expect(gpuprof::in_range("called", [] { return 7; }) == 7, "result of in_range");
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::function<void()>> const scenes = {{"core", core},
                                                               {"payload_kinds", payload_kinds},
                                                               {"domains", domains},
                                                               {"bad", bad},
                                                               {"many_threads", many_threads},
                                                               {"plugin", plugin},
                                                               {"extended", extended},
                                                               {"forked", forked},
                                                               {"destructors", destructors},
                                                               {"later", later},
                                                               {"markers", markers}};
  auto const scene = scenes.find(argc > 1 ? argv[1] : "");
  if (scene == scenes.end()) return 2;
  scene->second();
  return 0;
}
