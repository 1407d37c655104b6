#!/usr/bin/env bash
# Installs the metrics servers of tests/metrics, the browser of tests/browser and what builds the image; what cannot be had is skipped, with the reason.
set -uo pipefail
packages=()
for pair in prometheus:prometheus influxd:influxdb victoria-metrics:victoria-metrics chromium:chromium java:default-jre-headless mvn:maven buildah:buildah mmdebstrap:mmdebstrap; do
  command -v "${pair%%:*}" >/dev/null || packages+=("${pair#*:}")
done
[ ${#packages[@]} -eq 0 ] && exit 0
command -v apt-get >/dev/null || { echo "no apt-get; install by hand for all tests: ${packages[*]}" >&2; exit 0; }
as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q >/dev/null 2>&1
for package in "${packages[@]}"; do
  "${as_root[@]}" apt-get install -q -y --no-install-recommends "$package" >/dev/null 2>&1 \
    || echo "could not install $package; its tests will be skipped" >&2
done
exit 0
