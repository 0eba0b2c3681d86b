#!/usr/bin/env bash
# Makes the passwords that docker-compose.yml hands to its services: packaging/make-secrets.sh [DIRECTORY]
#
# A password that exists already is kept, so running it again changes nothing; delete the directory for new ones.
#   kafka_password       for clients on the host and beyond         kafka_jaas        the same, as Kafka wants it
#   clickhouse_password  for our services                           clickhouse_users  its hash, as ClickHouse wants it
#   redis_password       for our services                           redis_acl         its hash, as Redis wants it
#   clickhouse_reader_password   for queries and dashboards          grafana_password  of Grafana's user `admin`
#
# A service reads its secret under a user number of its own, and Compose mounts each file with the mode that it has here.
# So the files can be read by all, and the directory by its owner alone: that is what keeps others on this host out.
set -euo pipefail
umask 077

directory=${1:-$(dirname "$0")/secrets}
mkdir -p "$directory"
chmod 700 "$directory"

write() {
  cat >"$directory/$1.new"
  chmod 444 "$directory/$1.new"
  mv -f "$directory/$1.new" "$directory/$1"
}

# 32 characters out of 62: 190 bits, and none that a URL, XML, JAAS or ACL file would have to escape.
password() {
  [ -s "$directory/$1" ] || head -c 512 /dev/urandom | base64 -w 0 | tr -dc 'A-Za-z0-9' | cut -c 1-32 | tr -d '\n' | write "$1"
}

digest() {
  sha256sum "$directory/$1" | cut -d ' ' -f 1
}

password kafka_password
password clickhouse_password
password clickhouse_reader_password
password grafana_password
password redis_password

write kafka_jaas <<END
KafkaServer {
  org.apache.kafka.common.security.plain.PlainLoginModule required
  user_schedmate="$(cat "$directory/kafka_password")";
};
END

write clickhouse_users <<END
<clickhouse>
  <users>
    <default remove="remove"/>
    <schedmate>
      <password_sha256_hex>$(digest clickhouse_password)</password_sha256_hex>
      <profile>default</profile>
      <quota>default</quota>
      <networks><ip>::/0</ip></networks>
    </schedmate>
    <schedmate-reader>
      <password_sha256_hex>$(digest clickhouse_reader_password)</password_sha256_hex>
      <profile>reader</profile>
      <quota>default</quota>
      <networks><ip>::/0</ip></networks>
      <grants>
        <query>GRANT SELECT ON schedmate.*</query>
        <query>GRANT SELECT ON system.parts</query>
      </grants>
    </schedmate-reader>
  </users>
  <profiles>
    <!-- 2: reads only, and may say how long a question may take. -->
    <reader><readonly>2</readonly></reader>
  </profiles>
</clickhouse>
END

# Nobody can log in as `default`, and it keeps all rights: Redis replays the transactions of its append-only file with the
# rights of `default`, and drops those that it may not run. The health check logs in as `health`, with any password.
write redis_acl <<END
user default off ~* &* +@all
user health on nopass resetkeys resetchannels -@all +ping
user schedmate on #$(digest redis_password) ~* &* +@all -@admin
END

echo "secrets are in $directory"
