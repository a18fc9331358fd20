#!/usr/bin/env bash
# Checks the dependencies between folders: prints every include of a header that its folder must not include.
#   check_layers.sh [FOLDER]: FOLDER contains the sources; default: the tree of this script.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

failed=0
# forbid FOLDERS PATTERN [EXCEPT]: reports sources below FOLDERS that include a header whose path matches PATTERN.
# Sources whose path matches EXCEPT may include it.
forbid() {
  local found status=0
  # shellcheck disable=SC2086
  found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]($2)" --include='*.h' --include='*.cc' $1) || status=$?
  if [ "$status" -gt 1 ]; then
    echo "$1: cannot be searched"
    failed=1
  fi
  if [ -n "${3:-}" ]; then found=$(grep -vE "^($3)" <<<"$found" || true); fi
  if [ -n "$found" ]; then
    echo "must not be included from $1:"
    echo "$found"
    failed=1
  fi
}

forbid proto/record '(client|worker|server)/|grpc|sqlite3\.h|fstream|unistd\.h|fcntl\.h'
forbid proto/log '(client|worker|server)/|grpc|sqlite3\.h'
forbid proto/clock '(client|worker|server)/|grpc|sqlite3\.h'
forbid client '(worker|server)/|sqlite3\.h'
forbid worker 'server/|sqlite3\.h'
forbid worker/forward 'client/|grpc'
forbid 'worker/codegen worker/device worker/ir worker/kernel worker/kernels' 'worker/wrapper/'
forbid worker/debug '(client|worker/(forward|kernels|tune|wrapper))/|grpc'
forbid 'worker/codegen worker/device worker/ir worker/kernel worker/kernels' 'worker/debug/'
forbid worker/wrapper '(client|worker/(tune|forward))/|grpc'
forbid worker/tune/record 'worker/(codegen|device|ir|kernel|kernels|forward)/|grpc'
forbid proto/access '(client|worker|server)/|sqlite3\.h'
forbid proto/cli '(client|worker|server)/|grpc|sqlite3\.h'
forbid server '(client|worker)/'
forbid server 'sqlite3\.h' 'server/storage/sqlite/'
forbid 'client proto worker server tests' 'libpq-fe\.h' 'server/storage/postgresql/|tests/server/storage/'
forbid 'client proto server tests worker' 'prometheus/' 'server/writer/metrics\.cc'
# The folders of the collector program, from the lowest layer up. No folder includes a header of a later one.
collector='call|batch|writer|ingest|dataset|collector|commands'
forbid server/net "(client|worker)/|server/(access|copy|export|storage|$collector)/|grpc"
forbid 'server/access server/batch server/copy server/dataset server/export server/ingest server/storage' 'server/net/'
forbid server/access "server/(copy|export|storage|$collector)/"
forbid server/storage "server/(access|copy|export|$collector)/|grpc"
forbid server/export "server/(access|copy|$collector)/"
forbid server/copy "server/(access|$collector)/"
forbid server/call 'server/(batch|writer|ingest|dataset|collector|commands|copy|export)/'
forbid server/batch 'server/(writer|ingest|dataset|collector|commands|copy|export)/'
forbid server/writer 'server/(ingest|dataset|collector|commands|copy|export)/'
forbid server/ingest 'server/(dataset|collector|commands|copy|export)/'
forbid server/dataset 'server/(batch|ingest|collector|commands|copy|export)/'
forbid server/collector 'server/(commands|copy|export)/'
forbid server/commands 'server/export/'
# The interface of the storage does not depend on the folders below it; any_store selects one of the two databases.
forbid server/storage 'server/storage/([a-z]+/|any_store\.h)' 'server/storage/([a-z]+/|any_store\.)'
forbid server/storage/sql 'server/storage/((tables|readers|sqlite|postgresql|upkeep)/|[a-z_]+\.h)'
forbid server/storage/tables 'server/storage/((readers|sqlite|postgresql|upkeep)/|any_store\.h)'
forbid server/storage/readers 'server/storage/((sqlite|postgresql|upkeep)/|any_store\.h)'
forbid server/storage/sqlite 'server/storage/((postgresql|upkeep)/|any_store\.h)'
forbid server/storage/postgresql 'server/storage/((sqlite|upkeep)/|any_store\.h)'
forbid server/storage/upkeep 'server/storage/(postgresql/|any_store\.h)'
# Only worker/device opens drivers. Other folders use device.h and dtype.h.
forbid 'client proto server tests worker' '(.*/)?(cuda|nvrtc|nvJitLink|cl_|opencl)[A-Za-z0-9_]*\.h|CL/|dlfcn\.h' \
  'worker/device/|tests/worker/device/|tests/integration/shifted_clock\.cc'
forbid 'client proto server tests worker' 'worker/device/(launch_checks|library)\.h' 'worker/device/|tests/worker/device/'
exit "$failed"
