# Writes OUTPUT, a C++ source that holds the text of the files of FOLDER that NAMES lists, separated by commas
# (cmake -DFOLDER=... -DNAMES=cuda.cpp,check.py -DOUTPUT=... -P embed_runtime.cmake).
string(REPLACE "," ";" names "${NAMES}")
set(entries "")
foreach(name ${names})
  file(READ ${FOLDER}/${name} text)
  string(APPEND entries "    {\"${name}\", R\"RUNTIME(${text})RUNTIME\"},\n")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"worker/wrapper/program/program_text.h\"\n\n"
  "namespace telemetry::worker::wrapper::program {\n\n"
  "namespace {\n\n"
  "struct File {\n  std::string_view name;\n  std::string_view text;\n};\n\n"
  "constexpr File kFiles[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::string_view RuntimeText(std::string_view file) {\n"
  "  for (const File& known : kFiles) {\n    if (known.name == file) return known.text;\n  }\n"
  "  return {};\n}\n\n"
  "}  // namespace telemetry::worker::wrapper::program\n")
