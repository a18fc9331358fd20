#!/usr/bin/env bash
# Checks that check_layers.sh accepts a valid tree and rejects the same tree with one wrong include.
set -euo pipefail
check="$(cd "$(dirname "$0")" && pwd)/check_layers.sh"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{client,tests/worker/device} "$root"/proto/{access,cli,clock,log,record} \
  "$root"/server/{access,batch,call,collector,commands,copy,dataset,export,ingest,net,writer} \
  "$root"/server/storage/{postgresql,readers,sql,sqlite,tables,upkeep} \
  "$root"/worker/{codegen,debug,device,forward,ir,kernel,kernels,tune/record,wrapper}

failed=0
fail() {
  echo "$*"
  failed=1
}

# include FILE HEADER: creates FILE with this include as its only line.
include() { echo "#include $2" >"$root/$1"; }

# passes FILE HEADER, refuses FILE HEADER: check the result for such a file in an otherwise valid tree.
passes() {
  include "$1" "$2"
  "$check" "$root" >/dev/null || fail "$1 may include $2, but is refused"
  rm "$root/$1"
}
refuses() {
  include "$1" "$2"
  local said
  if said=$("$check" "$root"); then fail "$1 must not include $2, but may"; fi
  if [[ $said != *"$1"* ]]; then fail "the file is not named: $1"; fi
  rm "$root/$1"
}

"$check" "$root" || fail "an empty tree is refused"

refuses proto/record/a.h '"worker/device/device.h"'
refuses proto/record/a.cc '<unistd.h>'
refuses client/a.cc '"server/storage/store.h"'
refuses worker/kernel/a.cc '<sqlite3.h>'
refuses worker/forward/a.h '"client/producer.h"'
refuses worker/tune/record/a.cc '"worker/kernel/kernel.h"'
refuses worker/kernel/a.cc '"worker/wrapper/lines.h"'
refuses worker/kernel/a.cc '"worker/debug/value_debugger.h"'
refuses worker/debug/a.cc '"worker/wrapper/lines.h"'
refuses worker/wrapper/a.cc '"worker/tune/tuner.h"'
refuses proto/access/a.cc '"client/producer.h"'
refuses proto/cli/a.cc '"server/access/gate.h"'
refuses server/access/a.cc '"server/storage/store.h"'
refuses server/storage/a.cc '"server/export/join.h"'
refuses server/storage/a.cc '<libpq-fe.h>'
passes server/storage/postgresql/a.cc '<libpq-fe.h>'
refuses server/storage/a.cc '<sqlite3.h>'
refuses server/storage/upkeep/a.cc '<sqlite3.h>'
passes server/storage/sqlite/a.cc '<sqlite3.h>'
refuses server/storage/store.h '"server/storage/readers/exporter.h"'
refuses server/storage/store.h '"server/storage/any_store.h"'
passes server/storage/any_store.cc '"server/storage/sqlite/sqlite_store.h"'
refuses server/storage/sql/a.h '"server/storage/refusal.h"'
passes server/storage/tables/a.h '"server/storage/refusal.h"'
refuses server/storage/tables/a.cc '"server/storage/readers/exporter.h"'
refuses server/storage/readers/a.cc '"server/storage/sqlite/sqlite_database.h"'
refuses server/storage/sqlite/a.cc '"server/storage/upkeep/check.h"'
refuses server/storage/postgresql/a.cc '"server/storage/sqlite/sqlite_database.h"'
refuses server/storage/upkeep/a.cc '"server/storage/any_store.h"'
refuses proto/log/a.cc '"server/call/limits.h"'
refuses server/call/a.cc '"server/batch/parsed_batch.h"'
refuses server/batch/a.cc '"server/writer/writer_loop.h"'
refuses server/writer/a.cc '"server/ingest/admission.h"'
refuses server/ingest/a.cc '"server/dataset/reader_pool.h"'
refuses server/dataset/a.cc '"server/ingest/admission.h"'
refuses server/collector/a.cc '"server/commands/flag.h"'
passes server/commands/a.cc '"server/collector/collector_server.h"'
passes server/commands/a.cc '"server/copy/copy_dataset.h"'
refuses server/commands/a.cc '"server/export/join.h"'
refuses server/copy/a.cc '"server/collector/collector_server.h"'
refuses server/writer/a.cc '<prometheus/counter.h>'
passes server/writer/metrics.cc '<prometheus/counter.h>'
refuses server/net/a.cc '"server/access/gate.h"'
refuses server/net/a.cc '<grpcpp/server.h>'
refuses server/export/a.cc '"server/net/acceptor.h"'
passes server/collector/a.cc '"server/net/acceptor.h"'
refuses server/collector/a.cc '"client/producer.h"'
refuses server/export/a.cc '"server/collector/writer.h"'

passes worker/kernel/a.cc '"worker/device/device.h"'
for header in '<cuda.h>' '<cuda_runtime.h>' '<nvrtc.h>' '<CL/cl.h>' '<CL/opencl.h>' '<CL/cl_ext.h>' '<dlfcn.h>' \
  '"worker/device/cuda_api.h"' '"worker/device/opencl_api.h"' '"worker/device/nvrtc.h"' '"worker/device/library.h"'; do
  for file in client/a.cc proto/record/a.h server/storage/a.cc tests/a.cc worker/a.cc worker/kernel/a.h; do
    refuses "$file" "$header"
  done
  passes worker/device/a.cc "$header"
  passes tests/worker/device/a.cc "$header"
done

rmdir "$root/client"
if "$check" "$root" >/dev/null 2>&1; then fail "a folder that is not there is passed over"; fi
exit "$failed"
