#!/usr/bin/env bash
# Decisions in shell, by kcat (1.7) and jq (1.6): what is to be carried out, one line each.
#
#   examples/shell/subscriber.sh localhost:9092 my-scheduler [KEYS] [OPTIONS OF kcat...]
#
# KEYS is a file of lines of an id and a secret; with it, only what one of them signed is printed. kcat commits what it has printed,
# whether it was carried out or not: good for a person and for trying out; a scheduler wants a client that commits afterwards.
set -euo pipefail
export LC_ALL=C # secrets are counted in bytes
brokers=$1 group=$2 keys=${3:-}
shift $(($# < 3 ? $# : 3))

# The fields that say what to do, each as a netstring (docs/decisions.md, "Verifying a signature").
fields='
  def ms: . * 1000 | round | tostring;
  [ "schedmate-decision-1", .id, .action, .job // "", .node // "", (.attempt // 0 | tostring), .incarnation // "", (.time | ms), (.expires | ms),
    .mode // "shadow", .policy, .reason, .cause // "", .cause_id // "", (.exclude_nodes // [] | length | tostring) ]
  + (.exclude_nodes // [])
  + [ (if .node_evidence then "1" else "0" end), (.grace_s // 0 | ms), .checkpoint // "", .beneficiary // "" ]
  | map("\(utf8bytelength):\(.),") | add'

# HMAC-SHA-256 (RFC 2104) of standard input. By hand, because openssl takes the key as an argument, which everybody on the host can read.
hmac() {
  local secret=$1 hex inner='' outer='' byte i
  if [ ${#secret} -gt 64 ]; then hex=$(printf %s "$secret" | sha256sum | cut -c1-64); else hex=$(printf %s "$secret" | od -An -v -tx1 | tr -d ' \n'); fi
  for ((i = 0; i < 64; i++)); do
    byte=$((16#0${hex:2*i:2}))
    inner+=$(printf '\\x%02x' $((byte ^ 0x36))) outer+=$(printf '\\x%02x' $((byte ^ 0x5c)))
  done
  hex=$({ printf '%b' "$inner"; cat; } | sha256sum)
  for ((i = 0; i < 32; i++)); do outer+="\\x${hex:2*i:2}"; done
  printf '%b' "$outer" | sha256sum | cut -c1-64
}

signed() { # a decision as JSON
  local signature id secret
  signature=$(jq -r '.signature // ""' <<<"$1")
  while read -r id secret; do
    case $id in '' | '#'*) continue ;; esac
    [ "$id" = "${signature%%:*}" ] || continue
    [ "$(jq -j "$fields" <<<"$1" | hmac "$secret")" = "${signature#*:}" ] && return
  done <"$keys"
  return 1
}

kcat -q -u -b "$brokers" -X auto.offset.reset=earliest "$@" -G "$group" decisions |
  jq -cR --unbuffered 'fromjson? | select(type == "object" and .mode == "act" and .expires > now)' |
  while IFS= read -r decision; do
    if [ -n "$keys" ] && ! signed "$decision"; then
      echo "not signed by a key of ours: $(jq -c .id <<<"$decision")" >&2
      continue
    fi
    # Names alone, and each as one word: what a job printed (reason, evidence) never becomes part of a command.
    jq -r '[.action, .job // "", (.exclude_nodes // [] | join(","))] | @tsv' <<<"$decision"
  done
