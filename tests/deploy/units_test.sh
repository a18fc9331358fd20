#!/usr/bin/env bash
# Checks that the systemd units load, are confined as deploy/systemd/README.md describes, and set only variables that
# the programs know.
set -euo pipefail
cd "$(dirname "$0")/../../deploy/systemd"
bin=${TELEMETRY_BIN_DIR:?the folder of the built programs}
command -v systemd-analyze >/dev/null || {
  echo "skipped: systemd-analyze is not installed"
  exit 77
}
failed=0
fail() {
  echo "$*"
  failed=1
}

# systemd-analyze verify also looks up the program and the settings, so the test creates a root folder that contains
# them.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{usr/bin,etc/autotune-telemetry,usr/lib/systemd/system}
cp "$bin"/telemetry-{collector,web,worker} "$root/usr/bin/"
cp -- *.env "$root/etc/autotune-telemetry/"
cp -- *.service "$root/usr/lib/systemd/system/"
# The targets that the units refer to.
cp /lib/systemd/system/{basic,sysinit,shutdown,network-online,multi-user}.target "$root/usr/lib/systemd/system/"

# Ten times the exposure level that systemd-analyze computes, from 0 (none) to 100.
declare -A most_exposed=([collector]=15 [web]=15 [forward]=20 [worker]=25)
for role in "${!most_exposed[@]}"; do
  unit=telemetry-$role.service
  said=$(systemd-analyze verify --root="$root" --man=no --recursive-errors=no "$unit" 2>&1) ||
    fail "$unit is not valid"
  [ -z "$said" ] || fail "$said"
  systemd-analyze security --offline=true --no-pager --threshold="${most_exposed[$role]}" "$unit" >"$root/security" ||
    fail "$unit is more exposed than ${most_exposed[$role]}"
  tail -n 1 "$root/security"
done

# knows FILE PROGRAM [COMMAND]: checks that --help (for serve: --help-all) names every variable that FILE sets, including
# those that are commented out.
knows() {
  local variable help
  help=$("$bin/$2" ${3:+"$3"} "$([ "${3:-}" = serve ] && echo --help-all || echo --help)")
  for variable in $(grep -oE '^#?[A-Z_]+=' "$1" | tr -d '#=' | grep -vxE 'FORWARD_PATHS|TELEMETRY_NVRTC'); do
    [[ $help == *"(Env:$variable)"* ]] || fail "$1 sets $variable, which $2 ${3:-} does not know"
  done
}
knows collector.env telemetry-collector serve
knows web.env telemetry-web
knows forward.env telemetry-worker forward
knows worker.env telemetry-worker run
exit "$failed"
