// The system's SQLite. `sqlite3_db_config` is variadic in C, which Swift cannot call: one shim per option used.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

static inline int csqlite_set_defensive(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, isOn, (int *)0);
}

static inline int csqlite_set_trusted_schema(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, isOn, (int *)0);
}

static inline int csqlite_set_no_checkpoint_on_close(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn, (int *)0);
}

static inline int csqlite_set_triggers(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn, (int *)0);
}

static inline int csqlite_set_double_quoted_texts(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, isOn, (int *)0);
}

#endif
