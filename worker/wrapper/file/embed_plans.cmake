# Writes OUTPUT, a C++ source that contains the text of the files NAME.json in FOLDER. NAMES lists the names, separated by
# commas (cmake -DFOLDER=... -DNAMES=attention,layer_norm -DOUTPUT=... -P embed_plans.cmake).
string(REPLACE "," ";" names "${NAMES}")
set(entries "")
foreach(name ${names})
  file(READ ${FOLDER}/${name}.json text)
  string(APPEND entries "    {\"${name}\", R\"PLAN(${text})PLAN\"},\n")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"worker/wrapper/file/plan_file.h\"\n\n"
  "namespace telemetry::worker::wrapper::file {\n\n"
  "namespace {\n\nconstexpr SamplePlan kPlans[] = {\n${entries}};\n\n}  // namespace\n\n"
  "absl::Span<const SamplePlan> SamplePlans() { return kPlans; }\n\n"
  "}  // namespace telemetry::worker::wrapper::file\n")
