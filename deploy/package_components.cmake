# Read by CPack for each generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL programs)
  # Without these CPack writes a .deb that depends on nothing.
  find_program(FILE_PROGRAM file)
  find_program(SHLIBDEPS_PROGRAM dpkg-shlibdeps)
  if(NOT FILE_PROGRAM OR NOT SHLIBDEPS_PROGRAM)
    message(FATAL_ERROR "the .deb needs: apt-get install file dpkg-dev")
  endif()
else()
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_ALL programs bundled_libraries)
endif()
