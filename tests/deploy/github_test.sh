#!/usr/bin/env bash
# Tests deploy/github with a benchmark job that fails half way. With a collector, all rows are stored. Without one, they
# are kept and can be sent later, and no row is stored twice. Then compares the times of a pull request with those of the
# main branch.
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

# times LABEL RUN MS: forwards six attempts of a kernel as a job with this label.
times() {
  rm -rf "$dir/times"
  mkdir "$dir/times"
  for attempt in 1 2 3 4 5 6; do
    id=$(printf '%s %s %s' "$1" "$2" "$attempt" | sha256sum | head -c 32)
    ms=$(awk "BEGIN { print $3 * (1 + 0.001 * $attempt) }")
    cat >>"$dir/times/softmax.measurements.jsonl" <<LINES
{"kind": "attempt", "version": 1, "attempt_id": "$id", "tuner": "test", "kernel_name": "softmax", "kernel_source": "", "input_shapes": "[(8,)]", "dtypes": "[]", "hardware": "H", "origin": "$1:a/b/$2/1/bench/0"}
{"kind": "measurement", "attempt_id": "$id", "seq": 1, "config": {}, "status": "ok", "perf_ms": $ms}
{"kind": "end", "attempt_id": "$id", "state": "complete", "counters": {}}
LINES
  done
  env GITHUB_REPOSITORY=a/b GITHUB_RUN_ID="$2" GITHUB_RUN_ATTEMPT=1 GITHUB_JOB=bench RUNNER_TEMP="$dir/temp$RANDOM" \
    TELEMETRY_WORKER="$bin/telemetry-worker" TELEMETRY_WORKER_COLLECTOR="$address" TELEMETRY_LABEL="$1" \
    "$scripts/forward" "$dir/times" >"$dir/said" 2>&1 || fail "$1: $(cat "$dir/said")"
}
# compare RUN STATUS RESULT BASE [VARIABLE=VALUE...]: compares a pull request's run with BASE.
compare() {
  : >"$dir/outputs"
  status=0
  env GITHUB_OUTPUT="$dir/outputs" GITHUB_STEP_SUMMARY="$dir/summary$1" GITHUB_REPOSITORY=a/b GITHUB_RUN_ID="$1" \
    RUNNER_TEMP="$dir/temp$1" TELEMETRY_WORKER="$bin/telemetry-worker" TELEMETRY_WORKER_COLLECTOR="$address" \
    TELEMETRY_LABEL=pr-12 "${@:5}" "$scripts/compare/compare" "$4" >"$dir/said" 2>&1 || status=$?
  [ "$status" -eq "$2" ] || fail "compare $1: status $status: $(cat "$dir/said")"
  grep -qx "result=$3" "$dir/outputs" || fail "compare $1: $(cat "$dir/outputs")"
}
times main 10 1
times pr-12 11 1.0005
times pr-12 12 1.1
compare 11 0 pass 'origin=main:*'
compare 12 1 slower 'origin=main:*'
grep -q 'Some kernels are slower' "$dir/summary12" || fail "no summary: $(cat "$dir/summary12")"
[ -s "$dir/temp12/autotune-telemetry/compare.xml" ] || fail "no compare.xml"
compare 13 2 unknown 'origin=main:*'
compare 12 2 unknown 'origin=main:*' TELEMETRY_WORKER_COLLECTOR=127.0.0.1:1 TELEMETRY_WORKER_DEADLINE=1s
compare 12 2 unknown main
exit "$failed"
