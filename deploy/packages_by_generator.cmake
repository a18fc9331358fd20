# CPack reads this file for each generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  # A package for each role: its component and, if it has one, the component of its service.
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  set(CPACK_COMPONENTS_ALL collector collector_service worker worker_service export export_service web web_service)
  # Settings go to /etc.
  set(CPACK_SET_DESTDIR ON)
  set(CPACK_INSTALL_PREFIX /usr)
  # Without these programs CPack writes a .deb without dependencies.
  find_program(FILE_PROGRAM file)
  find_program(SHLIBDEPS_PROGRAM dpkg-shlibdeps)
  if(NOT FILE_PROGRAM OR NOT SHLIBDEPS_PROGRAM)
    message(FATAL_ERROR "the .deb needs: apt-get install file dpkg-dev")
  endif()
else()
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_ALL collector worker export web bundled_libraries)
endif()
