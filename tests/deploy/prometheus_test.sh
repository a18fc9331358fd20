#!/usr/bin/env bash
# Prometheus' own checker takes the rules and the configuration, and each alert fires when it should and only then.
set -euo pipefail
cd "$(dirname "$0")"
command -v promtool >/dev/null || {
  echo "skipped: promtool is not installed (Debian: prometheus)"
  exit 77
}
promtool check rules ../../deploy/prometheus/alerts.yml
promtool check config ../../deploy/prometheus/prometheus.yml
promtool test rules alerts_test.yml
