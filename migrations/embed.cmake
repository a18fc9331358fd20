# Writes OUTPUT, a C++ source that holds the numbered .sql files of FOLDER and defines FUNCTION, which HEADER declares in
# NAMESPACE and which returns them
# (cmake -DFOLDER=... -DOUTPUT=... -DFUNCTION=... -DHEADER=... -DNAMESPACE=... -P embed.cmake).
file(GLOB files ${FOLDER}/[0-9][0-9][0-9][0-9]_*.sql)
list(SORT files)
set(entries "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(SUBSTRING ${name} 0 4 number)
  string(REGEX REPLACE "^0+" "" number ${number})
  file(READ ${file} sql)
  set(works_with 0)
  if(sql MATCHES "^-- works with version ([0-9]+)\n")
    set(works_with ${CMAKE_MATCH_1})
  endif()
  string(APPEND entries "    {${number}, \"${name}\", R\"SQL(${sql})SQL\", ${works_with}},\n")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"${HEADER}\"\n\n"
  "namespace ${NAMESPACE} {\n\n"
  "namespace {\n\nconstexpr sql::Migration kMigrations[] = {\n${entries}};\n\n}  // namespace\n\n"
  "absl::Span<const sql::Migration> ${FUNCTION}() { return kMigrations; }\n\n"
  "}  // namespace ${NAMESPACE}\n")
