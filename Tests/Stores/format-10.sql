PRAGMA journal_mode = WAL;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE thing (key TEXT, name TEXT, count INTEGER);
INSERT INTO thing VALUES('k1','n1',1);
INSERT INTO thing VALUES('k2','n2',2);
INSERT INTO thing VALUES('k3','n3',3);
INSERT INTO thing VALUES('k4','n4',4);
INSERT INTO thing VALUES('k6','n6',6);
INSERT INTO thing VALUES('k7','n7',7);
INSERT INTO thing VALUES('k8','n8',8);
CREATE TABLE _import_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO _import_meta VALUES('format',10);
INSERT INTO _import_meta VALUES('store',1705216819768968346);
CREATE TABLE _import_model (id INTEGER PRIMARY KEY, model TEXT NOT NULL) STRICT;
INSERT INTO _import_model VALUES(1,replace('{\n  "entities": {\n    "thing": {\n      "identifier": ["key"],\n      "attributes": {\n        "key": { "type": "string" },\n        "name": { "type": "string", "optional": true },\n        "count": { "type": "integer32", "optional": true }\n      }\n    }\n  }\n}\n','\n',char(10)));
CREATE TABLE _import_job (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    options TEXT NOT NULL,
    model INTEGER REFERENCES _import_model (id),
    is_model_final INTEGER NOT NULL DEFAULT 1,
    chunk_directory TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT
) STRICT;
INSERT INTO _import_job VALUES(1,'22ab317a-fe6d-4451-8fe4-6bb22c84221c','failed','thing.ndjson: line 9, column 11 (byte 364): the last line ends inside a value, near: e":1}\n{"key":"k8","name":"n8","count":8,"more":1}\n{"key":"k0','{"identifier":[],"isLossless":false,"maxDepth":1024,"maxRecordBytes":67108864,"model":"{\n  \"entities\": {\n    \"thing\": {\n      \"identifier\": [\"key\"],\n      \"attributes\": {\n        \"key\": { \"type\": \"string\" },\n        \"name\": { \"type\": \"string\", \"optional\": true },\n        \"count\": { \"type\": \"integer32\", \"optional\": true }\n      }\n    }\n  }\n}\n","nested":"flatten","nestedDepth":2,"nestedOnly":[],"onConflict":"merge","onError":"reject","records":[],"skip":0,"takesChunks":false,"types":{}}',1,1,'DIRECTORY/chunks','2026-11-25T10:50:53.195Z',NULL);
CREATE TABLE _import_source (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    description TEXT NOT NULL,
    shape TEXT NOT NULL,
    entities TEXT NOT NULL,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_source VALUES(1,0,'{"changed":1795601986559594625,"fingerprint":"f073bdeb929b6d0f","inode":16245066,"isCompressed":false,"modified":1795601986559594625,"name":"thing.ndjson","path":"DIRECTORY/thing.ndjson","size":364}','{"layout":"lines","paths":["$"]}','["thing"]');
CREATE TABLE _import_entity (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    entity TEXT NOT NULL,
    table_name TEXT NOT NULL,
    rows_before INTEGER NOT NULL,
    last_rowid_before INTEGER NOT NULL,
    made_table INTEGER NOT NULL,
    records_read INTEGER NOT NULL DEFAULT 0,
    inserted INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    ignored INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_entity VALUES(1,0,'thing','thing',0,0,0,8,7,0,0,0,1);
CREATE TABLE _import_chunk (
    job INTEGER NOT NULL,
    source INTEGER NOT NULL,
    first_byte INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    end_byte INTEGER NOT NULL,
    source_hash TEXT NOT NULL,
    first_ordinal INTEGER NOT NULL,
    records INTEGER NOT NULL,
    inserted INTEGER NOT NULL,
    first_rowid INTEGER,
    last_rowid INTEGER,
    is_complete INTEGER NOT NULL,
    PRIMARY KEY (job, source, first_byte, entity)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_chunk VALUES(1,0,0,0,87,'b001f366d9369b17',1,2,2,1,2,1);
INSERT INTO _import_chunk VALUES(1,0,87,0,175,'bb7571929cb11bd2',3,2,2,3,4,1);
INSERT INTO _import_chunk VALUES(1,0,175,0,265,'e9e00fbf3cb0aa7d',5,2,1,5,5,1);
INSERT INTO _import_chunk VALUES(1,0,265,0,353,'163240f3543bce28',7,2,2,6,7,1);
CREATE TABLE _import_marker (
    job INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    record_ordinal INTEGER NOT NULL,
    record_path TEXT NOT NULL,
    chunk_start TEXT NOT NULL,
    chunk_records INTEGER NOT NULL,
    chunk_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    chunks_done INTEGER NOT NULL,
    commits INTEGER NOT NULL,
    seconds REAL NOT NULL
) STRICT;
INSERT INTO _import_marker VALUES(1,0,353,8,'$','{"byteOffset":353,"enclosing":"","lineBreaks":7,"lineStart":310}',0,'',353,4,4,0.089396723000000011261);
CREATE TABLE _import_reject (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    entity TEXT NOT NULL,
    source INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    errors TEXT NOT NULL,
    record BLOB NOT NULL,
    state TEXT NOT NULL DEFAULT 'open'
) STRICT;
INSERT INTO _import_reject VALUES(1,1,5,'thing',0,176,45,'[{"byteOffset":208,"code":"wrongForm","entity":"thing","expected":"integer32","found":"string","keyPath":"count"}]',X'7b226b6579223a226b35222c226e616d65223a226e35222c22636f756e74223a2278222c226d6f7265223a317d','open');
CREATE TABLE _import_ledger (
    job INTEGER NOT NULL,
    entity TEXT NOT NULL,
    attribute TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (job, entity, attribute, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_ledger VALUES(1,'thing','more','unknownKey',7);
CREATE TABLE _import_deferred_identifier (
    job INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    PRIMARY KEY (job, entity)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_deferred_identifier VALUES(1,0);
CREATE TABLE _import_presence (
    job INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    first_rowid INTEGER NOT NULL,
    runs BLOB NOT NULL,
    PRIMARY KEY (job, entity, first_rowid)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_presence VALUES(1,0,1,X'02000000000000000700000000000000');
INSERT INTO _import_presence VALUES(1,0,3,X'02000000000000000700000000000000');
INSERT INTO _import_presence VALUES(1,0,5,X'01000000000000000700000000000000');
INSERT INTO _import_presence VALUES(1,0,6,X'02000000000000000700000000000000');
CREATE TABLE _import_place (
    job INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    first_rowid INTEGER NOT NULL,
    source INTEGER NOT NULL,
    places BLOB NOT NULL,
    PRIMARY KEY (job, entity, first_rowid)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_error (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    entity TEXT NOT NULL,
    key_path TEXT NOT NULL,
    code TEXT NOT NULL,
    expected TEXT NOT NULL,
    found TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_source INTEGER NOT NULL,
    first_byte_offset INTEGER NOT NULL,
    first_ordinal INTEGER NOT NULL,
    UNIQUE (job, entity, key_path, code, expected, found)
) STRICT;
INSERT INTO _import_error VALUES(1,1,'thing','count','wrongForm','integer32','string',1,0,208,5);
CREATE TABLE _import_waiting_index (
    job INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    name TEXT NOT NULL,
    is_unique INTEGER NOT NULL,
    is_identifier INTEGER NOT NULL,
    column_name TEXT NOT NULL,
    collation TEXT NOT NULL,
    is_descending INTEGER NOT NULL,
    PRIMARY KEY (job, entity, number, position)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_waiting_index VALUES(1,0,0,0,'thing','by_name',0,0,'name','BINARY',1);
CREATE TABLE _import_index (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    attributes TEXT NOT NULL,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_table (
    table_name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
    last_rowid INTEGER NOT NULL,
    columns TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_sample (
    table_name TEXT NOT NULL COLLATE NOCASE,
    row INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (table_name, row)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_file (
    token TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    is_made INTEGER NOT NULL,
    device INTEGER,
    inode INTEGER,
    PRIMARY KEY (token, path)
) STRICT, WITHOUT ROWID;
INSERT INTO _import_file VALUES('22ab317a-fe6d-4451-8fe4-6bb22c84221c','DIRECTORY/chunks','chunks','used',1,65024,16244941);
CREATE TABLE _import_addition (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (job, table_name, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_reject_key (reject INTEGER PRIMARY KEY, record_key TEXT NOT NULL) STRICT;
CREATE TABLE _import_retry (
    job INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    reject INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    is_text INTEGER NOT NULL,
    record_key TEXT,
    outcome TEXT,
    PRIMARY KEY (job, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_merge (
    sequence INTEGER PRIMARY KEY,
    stamp INTEGER NOT NULL,
    job INTEGER NOT NULL,
    commits INTEGER NOT NULL,
    is_finished INTEGER NOT NULL,
    needs_refresh INTEGER NOT NULL,
    source INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    record_ordinal INTEGER NOT NULL,
    record_path BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    chunks_done INTEGER NOT NULL,
    seconds REAL NOT NULL,
    changes BLOB NOT NULL,
    totals BLOB NOT NULL
) STRICT;
INSERT INTO _import_merge VALUES(1,-304615331939091441,1,1,0,0,0,87,2,X'24',87,1,0.13302516200000000234,X'000000000401020100000000',X'04040000000004');
INSERT INTO _import_merge VALUES(2,4116725660291687649,1,2,0,0,0,175,4,X'24',175,2,0.13680622500000000352,X'000000000401060100000000',X'08080000000008');
INSERT INTO _import_merge VALUES(3,-9150302907578042929,1,3,0,0,0,265,6,X'24',265,3,0.14006375400000001252,X'0000000202010a0000000000',X'0c0a000000020a');
INSERT INTO _import_merge VALUES(4,7710032064325722928,1,4,0,0,0,353,8,X'24',353,4,0.14058881100000000796,X'0000000004010c0100000000',X'100e000000020e');
CREATE TABLE _import_nested (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    nested INTEGER NOT NULL DEFAULT 0,
    inserted INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    ignored INTEGER NOT NULL DEFAULT 0,
    linked INTEGER NOT NULL DEFAULT 0,
    stubs INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_link (
    relationship TEXT NOT NULL,
    target BLOB NOT NULL,
    source BLOB NOT NULL,
    position INTEGER,
    job INTEGER NOT NULL,
    PRIMARY KEY (relationship, target, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_orphan (
    job INTEGER NOT NULL,
    relationship TEXT NOT NULL,
    target BLOB NOT NULL,
    PRIMARY KEY (job, relationship, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_appending (job INTEGER PRIMARY KEY) STRICT;
CREATE TABLE _import_unresolved (
    job INTEGER NOT NULL,
    relationship TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (job, relationship)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_incomplete (
    job INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    last_rowid INTEGER NOT NULL,
    source INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    record_key TEXT,
    content BLOB NOT NULL,
    record BLOB NOT NULL,
    PRIMARY KEY (job, entity, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_reversal (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    is_whole INTEGER NOT NULL,
    PRIMARY KEY (job, table_name)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_before (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    key BLOB NOT NULL,
    cells BLOB,
    PRIMARY KEY (job, table_name, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_reference (
    job INTEGER NOT NULL,
    relationship TEXT NOT NULL,
    table_name TEXT NOT NULL,
    holder BLOB NOT NULL,
    target BLOB NOT NULL,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (job, relationship, table_name, holder, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_unmet (
    job INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    relationship TEXT NOT NULL,
    target BLOB NOT NULL,
    PRIMARY KEY (job, ordinal, relationship, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_stub (
    table_name TEXT NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (table_name, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_migration (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    model_before INTEGER NOT NULL,
    model INTEGER NOT NULL,
    migrated TEXT NOT NULL,
    steps TEXT NOT NULL
) STRICT;
CREATE TABLE _import_change (
    job INTEGER PRIMARY KEY,
    conflicts INTEGER NOT NULL DEFAULT 0,
    has_log INTEGER NOT NULL,
    is_ended INTEGER NOT NULL DEFAULT 0,
    header BLOB
) STRICT;
CREATE TABLE _import_deletion (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_waiting_change (
    job INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    position INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    lines BLOB NOT NULL,
    PRIMARY KEY (job, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_found_conflict (
    job INTEGER NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_conflict (
    number INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    resolved INTEGER,
    line BLOB NOT NULL
) STRICT;
CREATE TABLE _import_undo_table (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    columns TEXT NOT NULL,
    is_whole INTEGER NOT NULL,
    PRIMARY KEY (job, table_name)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_undo (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    number INTEGER NOT NULL,
    key BLOB NOT NULL,
    before BLOB,
    after BLOB,
    PRIMARY KEY (job, table_name, number, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_undo_range (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    first_rowid INTEGER NOT NULL,
    last_rowid INTEGER NOT NULL,
    first_key BLOB NOT NULL,
    last_key BLOB NOT NULL,
    PRIMARY KEY (job, table_name, first_rowid)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_inserted (
    number INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    last_rowid INTEGER NOT NULL,
    ranges BLOB
) STRICT;
INSERT INTO _import_inserted VALUES(1,1,'thing',2,X'0201');
INSERT INTO _import_inserted VALUES(2,1,'thing',4,X'0601');
INSERT INTO _import_inserted VALUES(3,1,'thing',5,X'0a00');
INSERT INTO _import_inserted VALUES(4,1,'thing',7,X'0c01');
CREATE TABLE _import_seen (
    job INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    page INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (job, table_name, page)
) STRICT, WITHOUT ROWID;
CREATE TABLE _import_mirror (
    job INTEGER PRIMARY KEY,
    is_done INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    withheld INTEGER NOT NULL,
    reason TEXT,
    objects TEXT NOT NULL
) STRICT;
CREATE INDEX _import_reject_order ON _import_reject (job, ordinal);
CREATE INDEX _import_link_source ON _import_link (relationship, source);
COMMIT;
