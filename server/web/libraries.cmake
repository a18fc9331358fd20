# Fetches the JavaScript libraries of the pages into the build folder, again only if their list changes, and sets
# TELEMETRY_WEB_LIBRARIES to "path=file" for each.
find_package(Python3 COMPONENTS Interpreter REQUIRED)

set(folder ${CMAKE_BINARY_DIR}/server/web/libraries)
set(inputs libraries.txt licenses.txt fetch_libraries.py)
set(hashes "")
foreach(input ${inputs})
  file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/${input} hash)
  string(APPEND hashes "${hash}\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${input})
endforeach()
set(fetched "")
if(EXISTS ${folder}/fetched)
  file(READ ${folder}/fetched fetched)
endif()
if(NOT fetched STREQUAL hashes)
  message(STATUS "Fetching the JavaScript libraries of telemetry-web")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fetch_libraries.py ${folder}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${folder}/fetched "${hashes}")
endif()

set(TELEMETRY_WEB_LIBRARIES "")
foreach(name uplot.js uplot.css dagre.js echarts.js licenses.txt)
  list(APPEND TELEMETRY_WEB_LIBRARIES lib/${name}=${folder}/${name})
endforeach()
