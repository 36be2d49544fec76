# SPDX-License-Identifier: Apache-2.0
# gpuprof_process_test(NAME SCRIPT [TIMING] [PARTS N]): a ctest entry that runs a Python script with the programs of this tree named in its
# environment. The script imports processes.py of this folder, wherever it lies itself. Most of its time it waits: N entries take a
# part of it each, and wait together. TIMING: some of its tests are marked @processes.timing, since their verdict depends on the
# machine's speed; they are an entry of their own, with the label timing.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
# A sanitizer wants its own library to be the first that is preloaded.
set(preload_first "")
if(GPUPROF_SANITIZE MATCHES "address|thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  string(REGEX MATCH "address|thread" sanitizer "${GPUPROF_SANITIZE}")
  string(SUBSTRING "${sanitizer}" 0 1 initial)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=lib${initial}san.so"
    OUTPUT_VARIABLE preload_first OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
function(gpuprof_process_test name script)
  cmake_parse_arguments(arg "TIMING" "PARTS" "" ${ARGN})
  set(environment
    "PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/replay" PYTHONDONTWRITEBYTECODE=1
    "BUILT_PRELOAD_FIRST=${preload_first}"
    # The library keeps its memory to the end of the process on purpose, and LeakSanitizer itself crashes on looking at
    # threads that sleep through it. The unit tests look for leaks.
    "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0"
    # Programs that end by _exit() leave threads behind on purpose. GCC 12's sanitizer guesses the size of a library's
    # thread-local block from its address, and writes to what is not there when the block begins 16 bytes into a page.
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/nvtx_headers.supp:report_thread_leaks=0:intercept_tls_get_addr=0"
    "BUILT_PLAY=$<TARGET_FILE:gpuprof-play>"
    "BUILT_MAKE_SYNTHETIC=$<TARGET_FILE:gpuprof-make-synthetic>"
    "BUILT_RECORDER=$<TARGET_FILE:gpuprof_recorder>"
    "BUILT_REPLAY_LIBS=$<TARGET_FILE_DIR:gpuprof_replay_cupti>"
    "RECORDED_SESSIONS=${PROJECT_SOURCE_DIR}/tests/data/sessions"
    "READ_CAPTURE=${PROJECT_SOURCE_DIR}/examples/read_capture.py"
    "BUILT_CLIENT=$<TARGET_FILE:gpuprof_replay_client>"
    "BUILT_RANGE_CLIENT=$<TARGET_FILE:gpuprof_replay_range_client>"
    "BUILT_SAMPLING_CLIENT=$<TARGET_FILE:gpuprof_replay_sampling_client>"
    "BUILT_LINKED_CLIENT=$<TARGET_FILE:gpuprof_replay_linked_client>"
    "BUILT_OPENING_CLIENT=$<TARGET_FILE:gpuprof_replay_opening_client>"
    "BUILT_WATCHER=$<TARGET_FILE:gpuprof_replay_watcher>"
    "BUILT_EARLY_START=$<TARGET_FILE:gpuprof_replay_early_start>"
    "BUILT_FLOAT_TRAPS=$<TARGET_FILE:gpuprof_replay_float_traps>"
    "BUILT_FAILING_MEMORY=$<TARGET_FILE:gpuprof_replay_failing_memory>")
  if(TARGET gpuprof)
    list(APPEND environment "BUILT_LIBGPUPROF=$<TARGET_FILE:gpuprof>" "BUILT_PRELOAD=$<TARGET_FILE:gpuprof_preload>")
    if(TARGET gpuprof_replay_linked_program)
      list(APPEND environment
        "BUILT_LINKED_PROGRAM=$<TARGET_FILE:gpuprof_replay_linked_program>"
        "BUILT_ASKING_PROGRAM=$<TARGET_FILE:gpuprof_replay_asking_program>"
        "BUILT_LATE_CLIENT=$<TARGET_FILE:gpuprof_replay_late_client>"
        "BUILT_LINKED_SAMPLER=$<TARGET_FILE:gpuprof_replay_linked_sampler>"
        "BUILT_OPENING_SAMPLER=$<TARGET_FILE:gpuprof_replay_opening_sampler>"
        "BUILT_OLD_CUPTI=$<TARGET_FILE:pretended_cupti_complete>")
    endif()
  endif()
  if(GPUPROF_BUILT_COMMAND)
    # Not the library beside the command, which has no sanitizer and loads libraries that have one.
    list(APPEND environment "GPUPROF_LIBRARY=$<TARGET_FILE:gpuprof>" "BUILT_GPUPROF_NEEDS=${preload_first}")
  endif()
  if(TARGET gpuprof_cli)
    list(APPEND environment "BUILT_GPUPROF=$<TARGET_FILE:gpuprof_cli>")
  endif()
  if(NOT arg_PARTS)
    set(arg_PARTS 1)
  endif()
  foreach(part RANGE 1 ${arg_PARTS})
    if(arg_PARTS GREATER 1)
      set(entry "${name}_${part}")
    else()
      set(entry "${name}")
    endif()
    add_test(NAME ${entry} COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${script}" "--part=${part}/${arg_PARTS}")
    set_tests_properties(${entry} PROPERTIES TIMEOUT 900 COST 60 ENVIRONMENT "${environment}")
  endforeach()
  if(arg_TIMING AND NOT GPUPROF_SANITIZE)
    add_test(NAME ${name}_timing COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${script}" --timing)
    set_tests_properties(${name}_timing PROPERTIES TIMEOUT 600 ENVIRONMENT "${environment}" LABELS timing)
  endif()
endfunction()
