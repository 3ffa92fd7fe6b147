#!/usr/bin/env bash
# SQLite 3.40.1 (Debian 3.40.1-2+deb12u2): whether VACUUM gives the rows of a table other row ids depends on whether the table has an
# index, and VACUUM INTO of the same table leaves them as they are.
#
# Expected: VACUUM and VACUUM INTO treat row ids alike, and an index says nothing of them. The documentation says that either may
# change those of a table without an INTEGER PRIMARY KEY.
# Seen: rows 2 and 3 are 1 and 2 after VACUUM without an index, and 2 and 3 with one; in the copy that VACUUM INTO makes they are
# 2 and 3 both times.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=3.40.1-2+deb12u2
apt-get download "sqlite3=$version" "libsqlite3-0=$version" >/dev/null 2>&1 ||
    { echo "the packages of $version cannot be had here" >&2 && exit 69; }
for package in ./*.deb; do dpkg -x "$package" root; done
library=$(dirname "$(find root -name 'libsqlite3.so.0' | head -n 1)")
shell() { LD_LIBRARY_PATH=$library root/usr/bin/sqlite3 "$@"; }
shell --version

# Prints the row ids after VACUUM, and those in the copy.
row_ids() {
    rm -f store.db copy.db
    shell store.db "CREATE TABLE note (text TEXT); $1 INSERT INTO note VALUES ('a'), ('b'), ('c'); DELETE FROM note WHERE text = 'a'"
    shell store.db "VACUUM INTO 'copy.db'; VACUUM"
    echo "$(shell store.db 'SELECT group_concat(rowid) FROM note') and $(shell copy.db 'SELECT group_concat(rowid) FROM note')"
}

plain=$(row_ids "")
indexed=$(row_ids "CREATE INDEX note_text ON note (text);")
echo "without an index: $plain in the copy; with one: $indexed in the copy"
[ "$plain" = "1,2 and 2,3" ]
[ "$indexed" = "2,3 and 2,3" ]
