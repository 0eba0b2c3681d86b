#!/bin/sh
# Gives each program of SchedMate its rights on Kafka, and no more: one Kafka user a role.
#
#   SCHEDMATE_KAFKA__USERNAME=admin SCHEDMATE_KAFKA__PASSWORD_FILE=… packaging/grant-rights.sh
#
# Run it as a user that may change rights (the role administrator, or a super user). Running it again changes nothing. A variable
# names the users of a role, separated by blanks, where they are called otherwise than schedmate-ROLE:
#
#   GPU_AGENT='User:CN=n1.cluster User:CN=n2.cluster' COLLECTOR='User:CN=n1.cluster User:CN=n2.cluster' packaging/grant-rights.sh
#
# What each role may do: schedmate acls list, docs/rights.md.
#
# No job gets rights: pipes hand their lines to the collector of their node, which takes only those of the user's own jobs. Where pipes
# must write to Kafka themselves, PIPE names their users. Each of these can write lines under any job's id (docs/security.md).
#
#   PIPE=User:schedmate-pipe packaging/grant-rights.sh
set -eu

grant() {
    role=$1
    shift
    for principal in "$@"; do
        "${SCHEDMATE:-schedmate}" acls grant "$role" "$principal"
    done
}

# Each word of a variable is one user.
# shellcheck disable=SC2086
{
    grant pipe ${PIPE:-}
    grant collector ${COLLECTOR:-User:schedmate-collector}
    grant gpu-agent ${GPU_AGENT:-User:schedmate-gpu-agent}
    grant watcher ${WATCHER:-User:schedmate-watcher}
    grant worker ${WORKER:-User:schedmate-worker}
    grant model-worker ${MODEL_WORKER:-User:schedmate-model-worker}
    grant advisor ${ADVISOR:-User:schedmate-advisor}
    grant starts ${STARTS:-User:schedmate-starts}
    grant spot ${SPOT:-User:schedmate-spot}
    grant sink ${SINK:-User:schedmate-sink}
    grant sink-lines ${SINK_LINES:-User:schedmate-sink}
    grant bridge ${BRIDGE:-User:schedmate-bridge}
    grant notifier ${NOTIFIER:-User:schedmate-notifier}
    grant page ${PAGE:-User:schedmate-page}
    grant subscriber ${SUBSCRIBER:-User:schedmate-subscriber}
    grant reader ${READER:-User:schedmate-reader}
    grant operator ${OPERATOR:-User:schedmate-operator}
}
