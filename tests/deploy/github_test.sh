#!/usr/bin/env bash
# Tests deploy/github with a benchmark job that fails half way. With a collector, all rows are stored. Without one, they
# are kept and can be sent later, and no row is stored twice.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${TELEMETRY_BIN_DIR:?the folder of the built programs}
scripts=$root/deploy/github
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# A benchmark that writes the sidecars that Helion wrote for a kernel. It fails for bmm.
cat >"$dir/benchmark" <<BENCHMARK
#!/usr/bin/env bash
for file in "$root/tests/testdata/helion-main/\$1".*; do cp "\$file" "\$HELION_AUTOTUNE_LOG.\${file#*\$1.}"; done
[ "\$1" != bmm ]
BENCHMARK
chmod +x "$dir/benchmark"

# serve: starts a collector and sets $address to its address.
serve() {
  mkfifo "$dir/out"
  "$bin/telemetry-collector" serve --db "$dir/telemetry.db" --listen 127.0.0.1:0 >"$dir/out" 2>"$dir/log" &
  exec 3<"$dir/out"
  read -r address <&3 || fail "$(cat "$dir/log")"
  address=${address#listening on }
}

# job NUMBER [VARIABLE=VALUE...]: forwards as this job. Writes the outputs to $dir/outputs and returns the exit status.
job() {
  : >"$dir/outputs"
  env GITHUB_OUTPUT="$dir/outputs" GITHUB_REPOSITORY=a/b GITHUB_RUN_ID="$1" GITHUB_RUN_ATTEMPT=1 GITHUB_JOB=bench \
    RUNNER_TEMP="$dir/temp$RANDOM" TELEMETRY_WORKER="$bin/telemetry-worker" "${@:2}" \
    "$scripts/forward" "$dir/sidecars" >"$dir/said" 2>&1
}
rows() { sqlite3 -readonly "$dir/telemetry.db" 'SELECT count(*) FROM measurements'; }

"$scripts/per-kernel" "$dir/sidecars" bmm softmax -- "$dir/benchmark" >"$dir/said" && fail "bmm's failure is lost"
grep -q '^::error::failed: bmm$' "$dir/said" || fail "the failed kernel is not named"
[ -s "$dir/sidecars/softmax.csv" ] || fail "bmm's failure stopped softmax"

job 1 TELEMETRY_WORKER_COLLECTOR=127.0.0.1:1 TELEMETRY_WORKER_DRAIN_TIMEOUT=1s && fail "without a collector: status 0"
grep -qx kept=true "$dir/outputs" || fail "without a collector: $(cat "$dir/outputs")"
[ -s "$dir/sidecars/bmm.csv" ] || fail "without a collector: the sidecars are gone"

serve
# Forwards the artifact with the command in FORWARD.txt, as a user does.
again=$(sed -n "s|^  telemetry-worker|$bin/telemetry-worker|; s|HOST:PORT|$address|p" "$dir/sidecars/FORWARD.txt")
(cd "$dir/sidecars" && eval "$again --state-dir $dir/later") >"$dir/said" 2>&1 || fail "$again: $(cat "$dir/said")"
expected=$(cat "$root"/tests/testdata/helion-main/{bmm,softmax}.csv | grep -vc '^run_id,')
[ "$(rows)" -eq "$expected" ] || fail "$(rows) rows, not $expected"

job 1 TELEMETRY_WORKER_COLLECTOR="$address" || fail "with a collector: $(cat "$dir/said")"
grep -qx kept=false "$dir/outputs" || fail "with a collector: $(cat "$dir/outputs")"
[ "$(rows)" -eq "$expected" ] || fail "the same job again: $(rows) rows, not $expected"
job 2 TELEMETRY_WORKER_COLLECTOR="$address" || fail "another job: $(cat "$dir/said")"
[ "$(rows)" -eq $((2 * expected)) ] || fail "another job: $(rows) rows"

status=0
job 3 || status=$?
[ "$status" -eq 2 ] || fail "without an address: status $status"
exit "$failed"
