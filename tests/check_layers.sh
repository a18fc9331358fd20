#!/usr/bin/env bash
# Holds the arrows between the rooms: which folder may include which. Prints each include that points the wrong way.
# check_layers.sh [FOLDER]: the project's sources; without it those that this script belongs to.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

failed=0
# forbid FOLDERS PATTERN [EXCEPT]: no source below FOLDERS includes a header whose path matches PATTERN; what lies below
# paths that match EXCEPT may.
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
forbid server/net '(client|worker)/|server/(access|collector|copy|export|storage)/|grpc|sqlite3\.h'
forbid 'server/access server/copy server/export server/storage' 'server/net/'
forbid server/access 'server/(collector|export|storage)/|sqlite3\.h'
forbid server/storage 'server/(collector|export)/|grpc'
forbid 'client proto worker server tests' 'libpq-fe\.h' 'server/storage/postgresql/|tests/server/storage/'
forbid server/collector 'server/export/|sqlite3\.h'
forbid server/export 'server/collector/|sqlite3\.h'
forbid 'client proto server tests worker' 'prometheus/' 'server/collector/metrics\.cc'
# Drivers are opened in one room, which the others know as device.h and dtype.h.
forbid 'client proto server tests worker' '(.*/)?(cuda|nvrtc|nvJitLink|cl_|opencl)[A-Za-z0-9_]*\.h|CL/|dlfcn\.h' \
  'worker/device/|tests/worker/device/|tests/integration/shifted_clock\.cc'
forbid 'client proto server tests worker' 'worker/device/(launch_checks|library)\.h' 'worker/device/|tests/worker/device/'
exit "$failed"
