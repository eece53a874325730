#!/bin/sh
# As the postgres image does at its start: makes the database at the first one, then serves as the user postgres.
set -eu

PGDATA=/var/lib/postgresql/data
as_postgres() {
  setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  chown postgres "$PGDATA"
  chmod 700 "$PGDATA"
  echo "$POSTGRES_PASSWORD" >/tmp/password
  chown postgres /tmp/password
  as_postgres initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  as_postgres postgres --single -D "$PGDATA" postgres <<SQL
CREATE DATABASE "$POSTGRES_USER"
SQL
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups -- postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
