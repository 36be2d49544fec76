// SPDX-License-Identifier: Apache-2.0
// A library with the functions of the table, all of which succeed and do nothing; or with none.
#ifdef PRETENDED_VERSION
#include "guest/cupti/api.hpp"

#include <cstdlib>

#ifndef PRETENDED_RESULT
#define PRETENDED_RESULT 0
#endif

// Under CUPTI's names, but as other functions than its header declares: the parameters are not
// read.
#define EXPORT(name)                                                                   \
  extern "C" __attribute__((visibility("default"))) int pretended_##name() asm(#name); \
  extern "C" int pretended_##name() {                                                  \
    return 0;                                                                          \
  }

EXPORT(cuptiGetResultString)
EXPORT(cuptiSubscribe)
EXPORT(cuptiUnsubscribe)
EXPORT(cuptiEnableCallback)
EXPORT(cuptiGetCallbackName)
EXPORT(cuptiActivityRegisterCallbacks)
EXPORT(cuptiActivityEnable)
EXPORT(cuptiActivityDisable)
EXPORT(cuptiActivitySetAttribute)
EXPORT(cuptiActivityFlushAll)
EXPORT(cuptiActivityGetNextRecord)
EXPORT(cuptiActivityGetNumDroppedRecords)
EXPORT(cuptiFinalize)

extern "C" __attribute__((visibility("default"))) int pretended_version(std::uint32_t* version) asm(
    "cuptiGetVersion");
extern "C" int pretended_version(std::uint32_t* version) {
#ifdef PRETENDED_NEEDS_DRIVER
  std::abort();  // CUPTI 13.2 uses up the stack
#endif
  *version = PRETENDED_VERSION;
  return PRETENDED_RESULT;
}
#ifdef PRETENDED_NEEDS_DRIVER
EXPORT(cuptiActivityGetStructSize)
#endif
#else
extern "C" __attribute__((visibility("default"))) int nothing_of_cupti() {
  return 0;
}
#endif
