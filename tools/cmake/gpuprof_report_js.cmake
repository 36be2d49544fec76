# SPDX-License-Identifier: Apache-2.0
# The libraries that the pages of `gpuprof report` are drawn with, in GPUPROF_REPORT_JS_DIR. Fetched from PyPI where that is not set; where
# they cannot be had the command is built without pages, and says so.
set(GPUPROF_REPORT_JS_DIR "" CACHE PATH "Folder with echarts.min.js, tabulator.min.js and tabulator.min.css")
set(gpuprof_report_js "${GPUPROF_REPORT_JS_DIR}")
if(NOT gpuprof_report_js)
  set(gpuprof_report_js "${PROJECT_SOURCE_DIR}/build/report-js")
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/fetch_report_js.sh" "${gpuprof_report_js}" RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(WARNING "gpuprof report is left out of this build")
    set(gpuprof_report_js "")
  endif()
endif()
foreach(file echarts.min.js tabulator.min.js tabulator.min.css)
  if(gpuprof_report_js AND NOT EXISTS "${gpuprof_report_js}/${file}")
    message(FATAL_ERROR "GPUPROF_REPORT_JS_DIR: there is no ${file} in ${gpuprof_report_js}")
  endif()
endforeach()
