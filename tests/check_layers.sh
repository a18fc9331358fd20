#!/usr/bin/env bash
# Holds the arrows between the rooms: which folder may include which. Prints each include that points the wrong way.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
# forbid FOLDERS PATTERN: no source below FOLDERS includes a header whose path matches PATTERN.
forbid() {
  local found
  # shellcheck disable=SC2086
  if found=$(grep -rnE "^#include [\"<]($2)" --include='*.h' --include='*.cc' $1); then
    echo "must not be included from $1:"
    echo "$found"
    failed=1
  fi
}

forbid proto/record '(client|worker|server)/|grpc|sqlite3\.h|fstream|unistd\.h|fcntl\.h'
forbid client '(worker|server)/|sqlite3\.h'
forbid worker 'server/|sqlite3\.h'
forbid worker/forward 'client/|grpc'
forbid server '(client|worker)/'
forbid server/storage 'server/(collector|export)/|grpc'
forbid server/collector 'server/export/|sqlite3\.h'
forbid server/export 'server/collector/|sqlite3\.h'
forbid "client worker/forward server proto" 'cuda|nvrtc|CL/cl\.h'
exit "$failed"
