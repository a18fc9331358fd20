# Packages: the .debs depend on Debian's libraries; the tarball contains them, except for the C and C++ run time.
install(RUNTIME_DEPENDENCY_SET telemetry_runtime
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|pthread|dl|rt|resolv|stdc\\+\\+|gcc_s)\\.so"
  DIRECTORIES /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
  LIBRARY DESTINATION ${TELEMETRY_BUNDLE_DIR} COMPONENT bundled_libraries)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME autotune-telemetry)
set(CPACK_PACKAGE_CONTACT "The autotune telemetry authors <maintainers@autotune-telemetry.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/deploy/packages_by_generator.cmake)

# telemetry_package(ROLE DESCRIPTION [STARTED units...] [UNITS units...] [FOLDERS folders...] [SETTINGS files...]):
# Defines the package autotune-telemetry-ROLE. UNITS are its systemd units, STARTED the units that run after
# installation, FOLDERS their folders below /var/lib/autotune-telemetry, SETTINGS their files in
# /etc/autotune-telemetry. Only packages contain these files; `cmake --install` does not install them.
macro(telemetry_package role description)
  cmake_parse_arguments(PACKAGE "" "" "STARTED;UNITS;FOLDERS;SETTINGS" ${ARGN})
  string(TOUPPER ${role} upper)
  foreach(component ${role} ${role}_service)
    string(TOUPPER ${component} upper_component)
    set(CPACK_COMPONENT_${upper_component}_GROUP ${role})
  endforeach()
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME autotune-telemetry-${role})
  install(FILES deploy/debian/copyright DESTINATION share/doc/autotune-telemetry-${role} COMPONENT ${role}_service
          EXCLUDE_FROM_ALL)
  if(PACKAGE_UNITS)
    telemetry_service_files(${role})
  endif()
endmacro()

# Adds the units of telemetry_package and the scripts that start and stop them.
macro(telemetry_service_files role)
  set(role ${role})  # the scripts use the variable; the argument of a macro is not one
  set(control ${CMAKE_BINARY_DIR}/debian/${role})
  foreach(list UNITS STARTED FOLDERS)
    string(TOLOWER ${list} name)
    string(REPLACE ";" " " ${name} "${PACKAGE_${list}}")
  endforeach()
  foreach(script postinst prerm postrm)
    configure_file(deploy/debian/${script}.in ${control}/${script} @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE
                   OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
  list(TRANSFORM PACKAGE_SETTINGS PREPEND /etc/autotune-telemetry/ OUTPUT_VARIABLE conffiles)
  string(REPLACE ";" "\n" conffiles "${conffiles}\n")
  file(CONFIGURE OUTPUT ${control}/conffiles CONTENT "${conffiles}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA
      "${control}/postinst;${control}/prerm;${control}/postrm;${control}/conffiles")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "init-system-helpers (>= 1.52), systemd | systemd-standalone-sysusers")

  foreach(unit ${PACKAGE_UNITS})
    install(FILES deploy/systemd/${unit} DESTINATION lib/systemd/system COMPONENT ${role}_service EXCLUDE_FROM_ALL)
  endforeach()
  foreach(file ${PACKAGE_SETTINGS})
    install(FILES deploy/systemd/${file} DESTINATION /etc/autotune-telemetry COMPONENT ${role}_service EXCLUDE_FROM_ALL)
  endforeach()
  install(FILES deploy/systemd/telemetry-${role}.sysusers.conf DESTINATION lib/sysusers.d RENAME telemetry-${role}.conf
          COMPONENT ${role}_service EXCLUDE_FROM_ALL)
endmacro()

telemetry_package(collector "Stores the measurements of GPU kernel autotuners: the collector"
  UNITS telemetry-collector.service STARTED telemetry-collector.service FOLDERS collector SETTINGS collector.env)
telemetry_package(worker "Measures GPU kernels and forwards Helion's sidecars to a telemetry collector"
  UNITS telemetry-forward.service telemetry-worker.service FOLDERS forward worker
  SETTINGS forward.env worker.env suite.json)
set(CPACK_DEBIAN_WORKER_PACKAGE_SUGGESTS "ocl-icd-libopencl1, pocl-opencl-icd")
telemetry_package(export "Writes snapshots of a telemetry collector's dataset, as .csv and .jsonl")
telemetry_package(web "Shows the dataset of a telemetry collector in the browser"
  UNITS telemetry-web.service SETTINGS web.env)
include(CPack)
