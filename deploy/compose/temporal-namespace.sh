#!/bin/sh
# Waits until Temporal serves, then makes the namespace and the search attributes that Driftless needs. Can run again at any time.
set -eu

attributes='Cluster NodePool NodeClaim DisruptionReason Phase ErrorCode'
tries=120

# Again and again until it succeeds: a server takes its time to serve, and to learn of a namespace that was just made.
eventually() {
  left=$tries
  until said=$("$@" 2>&1); do
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then
      echo "$said" >&2
      echo "$TEMPORAL_ADDRESS: not after $tries tries: $*" >&2
      exit 1
    fi
    sleep 1
  done
}

have_namespace() {
  temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 720h
}

have_attributes() {
  listed=$(temporal operator search-attribute list)
  for attribute in $attributes; do
    echo "$listed" | grep -Eq "^ *$attribute +Keyword" ||
      temporal operator search-attribute create --name "$attribute" --type Keyword || return 1
  done
}

eventually temporal operator cluster health
eventually have_namespace
eventually have_attributes
echo "namespace $TEMPORAL_NAMESPACE is ready"
