#!/usr/bin/env bash
# Gets what the tests on real servers need: Debian packages (as root or through sudo) and Kafka's jars (through Maven).
# Prints what it could not get; the tests that need it then say so (and fail in CI).
set -u
cd "$(dirname "$0")/../.." || exit

missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
command -v slurmctld >/dev/null || [ -x /usr/sbin/slurmctld ] || missing+=(slurm-wlm)
command -v slurmdbd >/dev/null || [ -x /usr/sbin/slurmdbd ] || missing+=(slurmdbd)
command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ] || missing+=(mariadb-server)
command -v munged >/dev/null || [ -x /usr/sbin/munged ] || missing+=(munge)
command -v java >/dev/null || missing+=(default-jre-headless)
command -v mvn >/dev/null || missing+=(maven)
docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || missing+=(docker-compose)
command -v jq >/dev/null || missing+=(jq)
command -v kcat >/dev/null || missing+=(kcat)
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v shellcheck >/dev/null || missing+=(shellcheck)
command -v prometheus >/dev/null || missing+=(prometheus)
command -v chromium >/dev/null || missing+=(chromium)
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing+=(nginx-light)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  echo "installing ${missing[*]}"
  if command -v apt-get >/dev/null && { [ ${#as_root[@]} = 0 ] || command -v sudo >/dev/null; }; then
    "${as_root[@]}" apt-get update -qq
    # No service is to start by itself: the tests start their own.
    DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
      echo "could not install ${missing[*]}: the tests that need them will say so"
  else
    echo "no apt-get as root: install ${missing[*]} by hand, or the tests that need them will say so"
  fi
fi

libs=.cache/kafka/libs
if [ -z "$(ls "$libs"/kafka_2.13-*.jar 2>/dev/null)" ]; then
  echo "fetching Apache Kafka"
  mvn -q -f tests/servers/kafka.pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$PWD/$libs" ||
    echo "could not fetch Kafka through Maven: the tests that need it will say so"
fi
# rsyslog and syslog-ng cannot both be installed, and neither is to run as this host's: their files are used from here.
shippers=.cache/shippers
if [ ! -x "$shippers/usr/sbin/syslog-ng" ] && command -v apt-get >/dev/null; then
  echo "fetching rsyslog and syslog-ng"
  wanted=(rsyslog rsyslog-kafka syslog-ng-core syslog-ng-mod-rdkafka)
  for package in $(apt-cache depends "${wanted[@]}" | awk '/^ +Depends: [a-z]/ { print $2 }' | sort -u); do
    dpkg -s "$package" >/dev/null 2>&1 || wanted+=("$package")
  done
  mkdir -p "$shippers/packages"
  (cd "$shippers/packages" && apt-get download -qq "${wanted[@]}" && for package in *.deb; do dpkg -x "$package" ..; done) ||
    echo "could not fetch rsyslog and syslog-ng: the tests that need them will say so"
fi
exit 0
