#!/usr/bin/env bash
# Checks the rules and the configuration with promtool, and that each alert fires only when it should.
set -euo pipefail
cd "$(dirname "$0")"
command -v promtool >/dev/null || {
  echo "skipped: promtool is not installed (Debian: prometheus)"
  exit 77
}
promtool check rules ../../deploy/prometheus/alerts.yml
promtool check config ../../deploy/prometheus/prometheus.yml
promtool test rules alerts_test.yml
