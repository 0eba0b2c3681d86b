#!/bin/bash
# shellcheck disable=SC2086 # the options are several words
exec java ${KAFKA_HEAP_OPTS:-} ${KAFKA_OPTS:-} -Dlog4j2.configurationFile=/etc/kafka/docker/tools-log4j2.yaml \
  -cp '/opt/kafka/libs/*' org.apache.kafka.tools.TopicCommand "$@"
