#!/bin/sh
# Makes Temporal's two databases and brings their schemas to the version of this image. Can run again at any time.
set -eu

for database in temporal visibility; do
  temporal-sql-tool --database "$database" create-database
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-name "postgresql/v12/$database"
done
