# Read by CPack for each generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL programs)
else()
  set(CPACK_COMPONENTS_ALL programs bundled_libraries)
endif()
