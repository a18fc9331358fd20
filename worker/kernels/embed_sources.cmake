# Writes OUTPUT, a C++ source that contains the text of the files NAME.cc in FOLDER. NAMES lists the names, separated by
# commas (cmake -DFOLDER=... -DNAMES=add,exp -DOUTPUT=... -P embed_sources.cmake).
string(REPLACE "," ";" names "${NAMES}")
set(entries "")
foreach(name ${names})
  file(READ ${FOLDER}/${name}.cc text)
  string(APPEND entries "    {\"${name}\", R\"SOURCE(${text})SOURCE\"},\n")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"worker/kernels/kernel_spec.h\"\n\n"
  "namespace telemetry::worker::kernels {\n\n"
  "namespace {\n\n"
  "struct Source {\n  std::string_view name;\n  std::string_view text;\n};\n\n"
  "constexpr Source kSources[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::string_view SourceText(std::string_view kernel_name) {\n"
  "  for (const Source& source : kSources) {\n    if (source.name == kernel_name) return source.text;\n  }\n"
  "  return {};\n}\n\n"
  "}  // namespace telemetry::worker::kernels\n")
