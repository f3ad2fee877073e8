#!/usr/bin/env bash
# DORY_CPX_PORT: what is no port ends in an error that names it. Usage: port.sh PROGRAM
set -euo pipefail
for port in '' x 0 -1 +80 5000x 65536 99999999999999999999; do
  if DORY_CPX_PORT=$port timeout 20 "$1" >/tmp/cpx_port.$$ 2>&1; then echo "FAILED: port '$port'"; exit 1; fi
  grep -q 'DORY_CPX_PORT is no number from 1 to 65535' /tmp/cpx_port.$$ || { cat /tmp/cpx_port.$$; echo "FAILED: port '$port': no message"; exit 1; }
done
rm -f /tmp/cpx_port.$$
echo "ports are checked"
