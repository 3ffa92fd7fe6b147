#!/usr/bin/env python3
"""Imports what other programs write, with what a person types, and compares the tables with what a person wants.

    Tests/Writers/writers.py [--importer PROGRAM] [--python PROGRAM] [--keep] [NAME...]

Each entry runs a program that writes JSON, imports its output, and checks tables, columns and numbers of rows, and some values that were
written down by hand or counted by jq. Programs that are not installed are left out, in words. --python names a Python that has the
modules; the default is this one. Exit code 0 if all is right, 1 otherwise.
"""

import argparse
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ENTRIES = []
FIXTURE = "create table t (id integer primary key, name text, price real, at text); insert into t values (1, 'Ann', 1.5, '2024-01-02'), (2, null, 0.1, null), (3, 'q\"\\', 1e20, '')"
FIXTURE_ROWS = [[1, "Ann", 1.5], [2, None, 0.1], [3, 'q"\\', 1e20]]


def entry(name, needs, make, typed, tables, *checks, python=None):
    """What is needed (programs, Python modules with a colon before them), the lines of shell or Python that write the source, what is typed,
    the tables with their number of rows (or a line of shell that prints it) and some of their columns, and statements with their rows."""
    ENTRIES.append((name, needs.split(), make, typed, tables, checks, python))


# MARK: Databases

entry("sqlite3 -json", "sqlite3", f"sqlite3 -json :memory: {shlex.quote(FIXTURE + '; select * from t')} > t.json", "t.json", {"t": (3, "id name price at")},
      ("select id, name, price from t", FIXTURE_ROWS))  # fmt: skip
entry("sqlite3 json_object", "sqlite3", f"sqlite3 :memory: {shlex.quote(FIXTURE)} \"select json_object('id', id, 'name', name, 'tags', json_array(id, name)) from t\" > t.ndjson", "t.ndjson",
      {"t": (3, "id name tags")}, ("select id, name, tags ->> 0 from t", [[1, "Ann", 1], [2, None, 2], [3, 'q"\\', 3]]))  # fmt: skip
entry("sqlite3 json_group_array", "sqlite3", f"sqlite3 :memory: {shlex.quote(FIXTURE)} \"select json_group_array(json_object('id', id, 'price', price)) from t\" > t.json", "t.json",
      {"t": (3, "id price")}, ("select id, price from t", [[1, 1.5], [2, 0.1], [3, 1e20]]))  # fmt: skip
POSTGRES = """data=$(mktemp -d); chown postgres $data; trap 'runuser -u postgres -- pg_ctl -D $data -m immediate stop >/dev/null; rm -rf $data' EXIT
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -1)
runuser -u postgres -- initdb -D $data >/dev/null; runuser -u postgres -- pg_ctl -D $data -w -o "-k $data -c listen_addresses=''" start >/dev/null
asked() { runuser -u postgres -- psql -h $data -d postgres -At -v ON_ERROR_STOP=1 "$@"; }
asked -c "create table t (id bigint, n numeric, f float8, at timestamptz, j json, a int[], b bytea)" >/dev/null
asked -c "insert into t values (9007199254740993, 1.10, 'NaN', '2024-01-02 03:04:05+00', E'{\\"k\\":\\n1}', '{1,2}', '\\\\x00ff'), (2, 12345678901234567890.12, 0.5, null, null, null, null), (3, 3, 'Infinity', null, '{\\"k\\":2}', '{}', null)" >/dev/null
"""  # noqa: E501
entry("psql row_to_json", "postgres:initdb runuser psql", POSTGRES + "asked -c 'select row_to_json(t) from t' > t.ndjson", "t.ndjson", {"t": (3, "id n f at j_k a b")},
      ("select id, cast(n as text), f, j_k, a from t", [[9007199254740993, "1.1", None, 1, "[1,2]"], [2, "12345678901234567890.12", 0.5, None, None], [3, "3", None, 2, "[]"]]))  # fmt: skip
entry("psql json_agg", "postgres:initdb runuser psql", POSTGRES + "asked -c 'select json_agg(t) from t' > t.json", "t.json", {"t": (3, "id n f at")},
      ("select id, f from t", [[9007199254740993, None], [2, 0.5], [3, None]]))  # fmt: skip
MARIADB = """data=$(mktemp -d); chown mysql $data; mariadb-install-db --user=mysql --datadir=$data >/dev/null 2>&1
mariadbd --user=mysql --datadir=$data --skip-networking --socket=$data/s >/dev/null 2>&1 & server=$!; trap 'kill $server; wait $server; rm -rf $data' EXIT
for _ in $(seq 100); do mariadb -S $data/s -e 'select 1' >/dev/null 2>&1 && break; sleep 0.1; done
asked() { mariadb -S $data/s -N --raw -e "$1"; }
"""
entry("mariadb json_object", "mariadbd mariadb", MARIADB + "asked \"select json_object('id', id, 'd', d, 's', s) from (select 1 id, cast(1.10 as decimal(20, 4)) d, 'a\\\"b' s union select 2, null, '') t\" > t.ndjson",
      "t.ndjson", {"t": (2, "id d s")}, ("select id, d * 10, s from t", [[1, 11, 'a"b'], [2, None, ""]]))  # fmt: skip
REDIS = """redis-server --port 0 --unixsocket $PWD/s --save '' >/dev/null & server=$!; trap 'kill $server; wait $server' EXIT
for _ in $(seq 50); do redis-cli -s s ping >/dev/null 2>&1 && break; sleep 0.1; done
"""
entry("redis-cli --json hgetall", "redis-server redis-cli", REDIS + "redis-cli -s s hset u name Ann n 5 >/dev/null; redis-cli -s s --json hgetall u > u.json", "u.json",
      {"u": (1, "name n")}, ("select name, n from u", [["Ann", "5"]]))  # fmt: skip
entry("redis-cli --json xrange", "redis-server redis-cli", REDIS + "for n in 1 2 3; do redis-cli -s s xadd q $n-0 k v$n >/dev/null; done; redis-cli -s s --json xrange q - + > q.json", "q.json",
      {"q": (3, "")}, ("select count(*) from q where value like '%v3%' or value like '%v1%'", [[2]]))  # fmt: skip
SQLITE_UTILS = f"sqlite3 t.db {shlex.quote(FIXTURE)}; "
entry("sqlite-utils rows", "sqlite3 :sqlite_utils", SQLITE_UTILS + "$PYTHON -m sqlite_utils rows t.db t > t.json", "t.json", {"t": (3, "id name price at")}, ("select id, name, price from t", FIXTURE_ROWS))
entry("sqlite-utils rows --nl", "sqlite3 :sqlite_utils", SQLITE_UTILS + "$PYTHON -m sqlite_utils rows t.db t --nl > t.json", "t.json", {"t": (3, "id name price at")}, ("select id, name, price from t", FIXTURE_ROWS))
entry("sqlite-utils rows --arrays", "sqlite3 :sqlite_utils", SQLITE_UTILS + "$PYTHON -m sqlite_utils rows t.db t --arrays > t.json", "t.json", {"t": (3, "column_1 column_2 column_3 column_4")},
      ("select column_1, column_2, column_3 from t", FIXTURE_ROWS))  # fmt: skip
entry("datasette", "sqlite3 :datasette", SQLITE_UTILS + "$PYTHON -m datasette t.db --get '/t/t.json' > t.json", "t.json", {"t": (3, "id name price at")}, ("select id, name, price from t", FIXTURE_ROWS))
entry(
    "datasette _shape=arrays",
    "sqlite3 :datasette",
    SQLITE_UTILS + "$PYTHON -m datasette t.db --get '/t/t.json?_shape=arrays&_extra=columns' > a.json",
    "a.json --entity t",
    {"t": (3, "id name price at")},
    ("select id, name, price from t", FIXTURE_ROWS),
)
entry("datasette _shape=object", "sqlite3 :datasette", SQLITE_UTILS + "$PYTHON -m datasette t.db --get '/t/t.json?_shape=object' > t.json", "t.json", {"t": (3, "key id name price at")}, ("select id, name, price from t", FIXTURE_ROWS))
entry("tinydb", ":tinydb", None, "db.json", {"_default": (3, "key n"), "users": (2, "key name tags")}, ("select key, name from users order by key", [["1", "Ann"], ["2", "Bo"]]),
      python="from tinydb import TinyDB\ndb = TinyDB('db.json'); db.insert_multiple({'n': n} for n in range(3)); db.table('users').insert_multiple([{'name': 'Ann', 'tags': []}, {'name': 'Bo', 'tags': [1]}])")  # fmt: skip
entry("bson json_util", ":bson", None, "m.json", {"m": (2, "_id at n d u")}, ("select _id, at, n from m", [["5f1d7f0e8f1b2c3d4e5f6a7b", "2024-01-02T03:04:05.000Z", 2**40], ["5f1d7f0e8f1b2c3d4e5f6a7c", None, 5]]),
      python="""import bson, datetime, uuid
from bson import json_util
rows = [{'_id': bson.ObjectId('5f1d7f0e8f1b2c3d4e5f6a7b'), 'at': datetime.datetime(2024, 1, 2, 3, 4, 5), 'n': bson.Int64(2**40), 'd': bson.Decimal128('1.10'), 'u': bson.Binary.from_uuid(uuid.UUID(int=5))},
        {'_id': bson.ObjectId('5f1d7f0e8f1b2c3d4e5f6a7c'), 'at': None, 'n': bson.Int64(5), 'd': None, 'u': None}]
open('m.json', 'w').write(''.join(json_util.dumps(row) + '\\n' for row in rows))""")  # fmt: skip
DYNAMO = """import boto3, decimal, json
from boto3.dynamodb.types import TypeSerializer
items = [{k: TypeSerializer().serialize(v) for k, v in item.items()} for item in ({'id': 'a', 'n': decimal.Decimal('1.5'), 'l': [1, 'x'], 'm': {'k': True}}, {'id': 'b', 'n': 2, 's': {'x'}})]
"""
entry("boto3 dynamodb export", ":boto3", None, "d.json", {"d": (2, "id n l m_k s")}, ("select id, n, m_k from d", [["a", 1.5, 1], ["b", 2, None]]),
      python=DYNAMO + "open('d.json', 'w').write(''.join(json.dumps({'Item': item}) + '\\n' for item in items))")  # fmt: skip
entry("boto3 dynamodb scan", ":boto3", None, "scan.json", {"scan": (2, "id n l m_k s")}, ("select id, n, m_k from scan", [["a", 1.5, 1], ["b", 2, None]]),
      python=DYNAMO + "json.dump({'Items': items, 'Count': 2, 'ScannedCount': 2, 'ConsumedCapacity': None}, open('scan.json', 'w'), indent=4)")  # fmt: skip

# MARK: Languages and libraries

entry("jq -c", "jq", "jq -nc 'range(5) | {n: ., s: \"x\\(.)\"}' > t.json", "t.json", {"t": (5, "n s")}, ("select sum(n), max(s) from t", [[10, "x4"]]))
entry("jq", "jq", "jq -n 'range(5) | {n: ., l: [.]}' > t.json", "t.json", {"t": (5, "n l")}, ("select sum(n) from t", [[10]]))
entry("jq --seq", "jq", "jq -n --seq 'range(5) | {n: .}' > t.json-seq", "t.json-seq", {"t": (5, "n")}, ("select sum(n) from t", [[10]]))
entry("jq --tab -s", "jq", "jq -nc 'range(5) | {n: .}' | jq --tab -s . > t.json", "t.json", {"t": (5, "n")}, ("select sum(n) from t", [[10]]))
entry("jq group_by", "jq", "jq -n '[range(6) | {g: (. % 2), n: .}] | group_by(.g)' > t.json", "t.json --records '$[*][*]'", {"t": (6, "g n")}, ("select g, sum(n) from t group by g", [[0, 6], [1, 9]]))
entry("jq to_entries", "jq", "jq -n '{a: 1, b: 2} | to_entries' > t.json", "t.json", {"t": (2, "key value")}, ("select key, value from t", [["a", 1], ["b", 2]]))
entry("ruby", "ruby", "ruby -rjson -rtime -e 'puts JSON.pretty_generate([{id: 1, at: Time.utc(2024, 1, 2, 3, 4, 5), h: {}}, {id: 2, at: nil, h: {\"a\" => 1}}])' > t.json",
      "t.json --type at:date", {"t": (2, "id at h")}, ("select id, at, h ->> 'a' from t", [[1, "2024-01-02T03:04:05.000Z", None], [2, None, 1]]))  # fmt: skip
entry("lua cjson", "lua5.4", "lua5.4 -e 'local c = require \"cjson\"; for n = 1, 3 do print(c.encode({id = n, tags = n > 1 and {1, n} or {}, x = n / 3})) end' > t.ndjson",
      "t.ndjson", {"t": (3, "id tags x")}, ("select id, tags, round(x, 9) from t", [[1, None, 0.333333333], [2, "[1,2]", 0.666666667], [3, "[1,3]", 1]]))  # fmt: skip
entry("perl JSON::PP", "perl", "perl -MJSON::PP -e 'print JSON::PP->new->canonical->pretty->encode([{id => 1, x => 9**9**9, b => JSON::PP::true}, {id => 2, x => 1.5, b => JSON::PP::false}])' > t.json",
      "t.json", {"t": (2, "id x b")}, ("select id, x, b from t", [[1, None, 1], [2, 1.5, 0]]))  # fmt: skip
entry("php pretty", "php", "php -r 'echo json_encode([[\"id\" => 1, \"a\" => [\"k\" => 0.1]], [\"id\" => 2, \"a\" => []]], JSON_PRETTY_PRINT);' > t.json", "t.json",
      {"t": (2, "id a_k")}, ("select id, a_k from t", [[1, 0.1], [2, None]]))  # fmt: skip
entry("node", "node", "node -e 'console.log(JSON.stringify([{id: 1, at: new Date(0), b: Buffer.from(\"hi\"), x: NaN}, {id: 2, at: null, b: null, x: 1.5}]))' > t.json",
      "t.json", {"t": (2, "id at b x")}, ("select id, at, hex(b), x from t", [[1, "1970-01-01T00:00:00.000Z", "6869", None], [2, None, "", 1.5]]))  # fmt: skip
entry("node Map entries", "node", 'node -e \'console.log(JSON.stringify([...new Map([["a", 1], ["b", 2]])]))\' > t.json', "t.json", {"t": (2, "column_1 column_2")}, ("select * from t", [["a", 1], ["b", 2]]))
entry("protobuf json_format", ":google.protobuf", None, "t.json", {"t": (2, "name number label type jsonName")}, ("select name, number from t", [["path", 1], ["span", 2]]),
      python="""from google.protobuf import descriptor_pb2, json_format
fields = [descriptor_pb2.FieldDescriptorProto(name=name, number=number, label=3, type=5, json_name=name) for number, name in enumerate(['path', 'span'], 1)]
open('t.json', 'w').write(json_format.MessageToJson(descriptor_pb2.DescriptorProto(name='Location', field=fields)))""")  # fmt: skip
entry("xmltodict", ":xmltodict", None, "feed.json --nested tables", {"feed": (2, "@id title"), "feed_item": (3, "@sku")}, ('select count(distinct "@sku") from feed_item', [[3]]),
      python="""import json, xmltodict
xml = '<orders><order id="1"><title>a</title><item sku="x"/></order><order id="2"><title>b</title><item sku="y"/><item sku="z"/></order></orders>'
json.dump(xmltodict.parse(xml), open('feed.json', 'w'))""")  # fmt: skip
entry("PyYAML", ":yaml", None, "t.json", {"t": (2, "name on")}, ("select name, \"on\" from t", [["a", 1], ["b", 0]]),
      python="import json, yaml\njson.dump(yaml.safe_load('- {name: a, \"on\": yes}\\n- {name: b, \"on\": no}\\n'), open('t.json', 'w'))")  # fmt: skip
entry("pandas", ":pandas", None, "frame.json", {"frame": (2, "id city n")}, ("select * from frame", [[1, "Oslo", 1.5], [2, None, None]]),
      python="import pandas\npandas.DataFrame({'id': [1, 2], 'city': ['Oslo', None], 'n': [1.5, None]}).to_json('frame.json')")  # fmt: skip
entry("geopandas to_json", ":geopandas", None, "map.json", {"map": (2, "properties_name geometry_type geometry_coordinates")}, None,
      python="import geopandas, shapely\nopen('map.json', 'w').write(geopandas.GeoDataFrame({'name': ['a', 'b']}, geometry=[shapely.Point(1, 2), shapely.Point(3, 4)]).to_json())")  # fmt: skip
OGR = "printf 'id,name,x,y\\n1,a,5.5,1\\n2,b,6.5,2\\n' > p.csv; "
entry(
    "ogr2ogr GeoJSON",
    "ogr2ogr",
    OGR + "ogr2ogr -f GeoJSON map.geojson p.csv -oo X_POSSIBLE_NAMES=x -oo Y_POSSIBLE_NAMES=y",
    "map.geojson",
    {"map": (2, "geometry_type")},
    ("select sum(json_extract(geometry_coordinates, '$[0]')) from map", [[12.0]]),
)
entry("ogr2ogr GeoJSONSeq", "ogr2ogr", OGR + "ogr2ogr -f GeoJSONSeq map.geojsonl p.csv -oo X_POSSIBLE_NAMES=x -oo Y_POSSIBLE_NAMES=y", "map.geojsonl", {"map": (2, "geometry_type")}, None)
entry("csvjson", ":csvkit", OGR + "$PYTHON -m csvkit.utilities.csvjson p.csv > t.json", "t.json", {"t": (2, "id name x y")}, ("select id, name, x from t", [[1, "a", 5.5], [2, "b", 6.5]]))
entry("csvjson -k", ":csvkit", OGR + "$PYTHON -m csvkit.utilities.csvjson -k id p.csv > t.json", "t.json", {"t": (2, "id name x y")}, ("select name, x from t", [["a", 5.5], ["b", 6.5]]))
SPIDER = """cat > s.py <<'END'
import scrapy
class S(scrapy.Spider):
    name = "s"
    start_urls = ["data:,x"]
    def parse(self, response):
        for n in range(3): yield {"n": n, "title": "caf\\u00e9", "tags": []}
END
"""
for suffix in ("json", "jsonl"):
    entry(f"scrapy -o .{suffix}", ":scrapy", SPIDER + f"$PYTHON -m scrapy runspider s.py -o items.{suffix} 2>/dev/null", f"items.{suffix}", {"items": (3, "n title tags")}, ("select sum(n), min(title) from items", [[3, "café"]]))

# MARK: Logs

entry("structlog", ":structlog", None, "app.log --entity log", {"log": (3, "event level timestamp n")}, ("select event, n from log order by n", [["e", 0], ["e", 1], ["e", 2]]),
      python="""import structlog
structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt='iso'), structlog.processors.JSONRenderer()], logger_factory=structlog.WriteLoggerFactory(open('app.log', 'w')))
for n in range(3): structlog.get_logger().info('e', n=n)""")  # fmt: skip
entry("python-json-logger", ":pythonjsonlogger", None, "app.log --entity log", {"log": (2, "message n exc_info")}, ("select message, n from log", [["a", 1], ["failed", None]]),
      python="""import logging
from pythonjsonlogger.json import JsonFormatter
handler = logging.FileHandler('app.log'); handler.setFormatter(JsonFormatter()); logging.getLogger().addHandler(handler)
logging.warning('a', extra={'n': 1})
try: 1 / 0
except ZeroDivisionError: logging.exception('failed')""")  # fmt: skip
entry("loguru serialize", ":loguru", None, "app.log --entity log", {"log": (2, "text record_message record_level_name record_extra")}, ("select record_message, record_level_name from log", [["a", "INFO"], ["b", "ERROR"]]),
      python="from loguru import logger\nlogger.remove(); logger.add('app.log', serialize=True); logger.bind(n=1).info('a'); logger.error('b')")  # fmt: skip
NGINX = """cat > n.conf <<END
pid $PWD/n.pid; error_log $PWD/e.log; events {}
http { log_format j %s'{"uri":"$D_uri","status":$status,"took":$request_time,"agent":"$http_user_agent","up":"$upstream_addr"}'; access_log $PWD/access.log j;
server { listen unix:$PWD/n.sock; location / { return 200 'x'; } } }
END
sed -i 's/D_uri/request_uri/' n.conf
nginx -p $PWD -c n.conf & sleep 0.5; for n in 1 2 3; do curl -s --unix-socket n.sock -A 'say "hi"' "http://h/p$n" >/dev/null; done; sleep 0.2; kill $(cat n.pid); wait
"""
for escape in ("", "escape=json "):
    entry(f"nginx log_format {escape or 'escape=default'}".strip(), "nginx curl", NGINX.replace("$D", "$D").replace("%s", escape).replace("<<END", "<<'END'").replace("$PWD", "@").replace("nginx -p @", "sed -i s#@#$PWD#g n.conf; nginx -p $PWD"),
          "access.log --entity access", {"access": (3, "uri status took agent up")}, ("select uri, status, agent from access", [[f"/p{n}", 200, 'say "hi"'] for n in (1, 2, 3)]))  # fmt: skip
entry(
    "curl -w %{json}", "curl", "for n in 1 2 3; do curl -s -o /dev/null -w '%{json}\\n' file:///etc/hostname; done > t.json", "t.json", {"t": (3, "url time_total size_download")}, ("select distinct url from t", [["file:///etc/hostname"]])
)
JOURNAL = """for n in 1 2 3; do printf '__REALTIME_TIMESTAMP=170000000000000%d\\n__MONOTONIC_TIMESTAMP=%d\\n_BOOT_ID=6ba7b8109dad11d180b400c04fd430c8\\nMESSAGE=m%d\\nPRIORITY=6\\n\\n' $n $n $n; done > x.export
/lib/systemd/systemd-journal-remote -o $PWD/x.journal x.export >/dev/null 2>&1
"""
entry("journalctl -o json", "/lib/systemd/systemd-journal-remote journalctl", JOURNAL + "journalctl --file x.journal -o json > journal.txt", "- --entity entry < journal.txt", {"entry": (3, "MESSAGE PRIORITY __REALTIME_TIMESTAMP")},
      ("select MESSAGE from entry order by __REALTIME_TIMESTAMP", [["m1"], ["m2"], ["m3"]]))  # fmt: skip
for form in ("json-pretty", "json-sse", "json-seq"):
    entry(f"journalctl -o {form}", "/lib/systemd/systemd-journal-remote journalctl", JOURNAL + f"journalctl --file x.journal -o {form} > journal.txt", "- --entity entry < journal.txt", {"entry": (3, "MESSAGE PRIORITY")},
          ("select MESSAGE from entry order by __REALTIME_TIMESTAMP", [["m1"], ["m2"], ["m3"]]))  # fmt: skip
PCAP = """python3 - <<'END'
import struct
def packet(n):
    udp = struct.pack('>HHHH', 5000 + n, 9, 8 + 4, 0) + b'data'
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), n, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    return b'\\x02' * 12 + b'\\x08\\x00' + ip + udp
with open('x.pcap', 'wb') as file:
    file.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for n in range(4):
        file.write(struct.pack('<IIII', 1700000000 + n, 0, len(packet(n)), len(packet(n))) + packet(n))
END
"""
entry("tshark -T json", "tshark", PCAP + "tshark -r x.pcap -T json > packets.json 2>/dev/null", "packets.json", {"packets": (4, "_index")}, ("select count(*) from pragma_table_info('packets') where name like '%udp.srcport'", [[1]]))
entry("tshark -T ek", "tshark", PCAP + "tshark -r x.pcap -T ek > packets.json 2>/dev/null", "packets.json", {"packets-2023-11-14": (4, "timestamp")}, None)

# MARK: Tools

entry("ffprobe -show_frames", "ffmpeg ffprobe", "ffmpeg -v error -f lavfi -i testsrc=d=1:r=5:s=16x16 x.mkv; ffprobe -v error -of json -show_frames x.mkv > frames.json", "frames.json", {"frames": (5, "media_type pts_time width")}, None)
entry(
    "ffprobe -show_streams -show_format",
    "ffmpeg ffprobe",
    "ffmpeg -v error -f lavfi -i testsrc=d=1:r=5:s=16x16 x.mkv; ffprobe -v error -of json -show_format -show_streams x.mkv > probe.json",
    "probe.json",
    {"probe": (1, "codec_name width")},
    None,
)
entry("exiftool -json", "exiftool", "printf x > a.txt; printf y > b.txt; exiftool -json a.txt b.txt > files.json", "files.json", {"files": (2, "SourceFile FileName MIMEType")}, ("select FileName from files", [["a.txt"], ["b.txt"]]))
entry("lsblk -J", "lsblk", "lsblk -J > disks.json", "disks.json", {"disks": ("jq '.blockdevices | length' disks.json", "name size type")}, None)
entry("findmnt -J -l", "findmnt jq", "findmnt -J -l > mounts.json", "mounts.json", {"mounts": ("jq '.filesystems | length' mounts.json", "target source fstype")}, None)
entry("lscpu -J", "lscpu jq", "lscpu -J > cpu.json", "cpu.json", {"cpu": ("jq '.lscpu | length' cpu.json", "field data")}, None)
entry("lscpu -J -e", "lscpu jq", "lscpu -J -e > cpus.json", "cpus.json", {"cpus": ("jq '.cpus | length' cpus.json", "cpu core")}, None)
entry("ip -j addr", "ip jq", "ip -j addr > links.json", "links.json", {"links": ("jq length links.json", "ifname mtu addr_info")}, None)
entry("ip -j route", "ip jq", "ip -j route show table all > routes.json", "routes.json", {"routes": ("jq length routes.json", "dst dev")}, None)
entry("lshw -json", "lshw", "lshw -json -quiet > hw.json 2>/dev/null", "hw.json --records '$'", {"hw": (1, "id class children")}, None)
entry("nmap -oX and xmltodict", "nmap :xmltodict", "nmap -sn -n -oX x.xml 127.0.0.1 127.0.0.2 >/dev/null; $PYTHON -c \"import json, xmltodict; json.dump(xmltodict.parse(open('x.xml').read()), open('scan.json', 'w'))\"",
      "scan.json --records '$.nmaprun.host[*]'", {"scan": (2, "status_@state address_@addr")}, ('select "address_@addr" from scan', [["127.0.0.1"], ["127.0.0.2"]]))  # fmt: skip
entry(
    "dpkg-query",
    "dpkg-query",
    'dpkg-query -W -f \'{"package":"${Package}","version":"${Version}","size":${Installed-Size}}\\n\' bash dpkg > t.ndjson',
    "t.ndjson",
    {"t": (2, "package version size")},
    ("select package from t", [["bash"], ["dpkg"]]),
)
entry("pip list", ":pip jq", "$PYTHON -m pip list --format json 2>/dev/null > pip.json", "pip.json", {"pip": ("jq length pip.json", "name version")}, None)
entry("pip inspect", ":pip jq", "$PYTHON -m pip inspect 2>/dev/null > pip.json", "pip.json", {"pip": ("jq '.installed | length' pip.json", "metadata_name metadata_version installer")}, None)
entry("npm ls --json", "npm jq", 'echo \'{"name":"a","version":"1.0.0"}\' > package.json; npm ls --json > npm.json', "npm.json", {"npm": (1, "name version")}, ("select name from npm", [["a"]]))
entry("cargo metadata", "cargo", "mkdir -p src; echo 'fn main() {}' > src/main.rs; printf '[package]\\nname = \"a\"\\nversion = \"1.0.0\"\\n' > Cargo.toml; cargo metadata --offline --format-version 1 --no-deps > cargo.json 2>/dev/null",
      "cargo.json --records '$.packages[*]'", {"cargo": (1, "name version targets")}, ("select name, version from cargo", [["a", "1.0.0"]]))  # fmt: skip
GIT = 'git init -q . && for n in 1 2 3; do git -c user.name=Ann -c user.email=a@b commit -q --allow-empty -m "m$n"; done; '
entry("git log", "git", GIT + 'git log --reverse --pretty=format:\'{"commit":"%H","subject":"%s","at":"%aI"}\' > log.json', "log.json", {"log": (3, "commit subject at")}, ("select subject from log", [["m1"], ["m2"], ["m3"]]))
entry("git log, with commas", "git", GIT + 'git log --pretty=format:\'{"commit":"%H","subject":"%s"},\' > log.json', "log.json", {"log": (3, "commit subject")}, ('select count(distinct "commit") from log', [[3]]))
TERRAFORM = 'printf \'resource "terraform_data" "a" {\\n count = 3\\n input = count.index\\n}\\n\' > main.tf; terraform init >/dev/null && terraform apply -auto-approve >/dev/null; '
entry("terraform show -json", "terraform", TERRAFORM + "terraform show -json > state.json", "state.json", {"state": (3, "address type values_input")}, None)
entry("terraform plan -json", "terraform", TERRAFORM + "terraform plan -json > plan.json", "plan.json", {"plan": ("wc -l < plan.json", "@level @message type")}, None)
entry(
    "kubectl -o json",
    "kubectl",
    "kubectl create deployment d --image i --replicas 2 --dry-run=client -o json > d.json",
    "d.json --records '$'",
    {"d": (1, "kind metadata_name spec_replicas")},
    ("select kind, metadata_name, spec_replicas from d", [["Deployment", "d", 2]]),
)
entry("fio", "fio", "fio --name=t --size=64k --filename=x --output-format=json --name=u --size=64k > fio.json", "fio.json --records '$.jobs[*]'", {"fio": (2, "jobname read_iops")}, ("select jobname from fio", [["t"], ["u"]]))
CODE = "printf 'import os, sys\\ndef f(x):\\n    return x + 1\\nassert eval(\"f(1)\") == 2\\n' > m.py; printf 'import m\\ndef test_a(): assert m.f(1) == 2\\ndef test_b(): assert m.f(1) == 3\\n' > test_m.py; "
entry(
    "pytest --json-report",
    ":pytest_jsonreport",
    CODE + "$PYTHON -m pytest -q --json-report >/dev/null",
    ".report.json --entity report --records '$.tests[*]'",
    {"report": (2, "nodeid outcome call_duration")},
    ("select nodeid, outcome from report", [["test_m.py::test_a", "passed"], ["test_m.py::test_b", "failed"]]),
)
entry("pytest --report-log", ":pytest_reportlog", CODE + "$PYTHON -m pytest -q --report-log log.json >/dev/null", "log.json", {"log": ("wc -l < log.json", "nodeid outcome")}, None)
entry(
    "coverage json",
    ":coverage",
    CODE + "$PYTHON -m coverage run --source . m.py; $PYTHON -m coverage json -q -o cov.json",
    "cov.json --records '$.files.*'",
    {"cov": (2, "key summary_covered_lines executed_lines")},
    ("select key, executed_lines from cov", [["m.py", "[1,2,3,4]"], ["test_m.py", "[]"]]),
)
entry("pylint -f json", ":pylint jq", CODE + "$PYTHON -m pylint -f json m.py > lint.json", "lint.json", {"lint": ("jq length lint.json", "type line message-id")}, None)
entry("bandit -f json", ":bandit jq", CODE + "$PYTHON -m bandit -q -f json m.py > b.json", "b.json --records '$.results[*]'", {"b": ("jq '.results | length' b.json", "test_id line_number")}, None)
entry(
    "ruff --output-format json",
    ":ruff jq",
    CODE + "$PYTHON -m ruff check --output-format json m.py > ruff.json",
    "ruff.json",
    {"ruff": ("jq length ruff.json", "code message location_row")},
    ("select count(*) from ruff where code = 'F401'", [[2]]),
)
entry("mypy -O json", ":mypy", "printf 'x: int = \"a\"\\ny: str = 1\\n' > m.py; $PYTHON -m mypy -O json m.py > mypy.json", "mypy.json", {"mypy": (2, "file line message code")}, ("select line from mypy", [[1], [2]]))
entry(
    "gcc -fdiagnostics-format=json",
    "gcc",
    "echo 'int main(void) { int x = \"a\"; return y; }' > a.c; gcc -fdiagnostics-format=json -c a.c 2> gcc.json",
    "gcc.json",
    {"gcc": (2, "kind message")},
    ("select kind from gcc order by kind", [["error"], ["warning"]]),
)
entry("singer", ":singer", None, "tap.jsonl --entity-by type,stream", {"RECORD_users": (2, "record_id record_name"), "SCHEMA_users": (1, ""), "STATE": (1, "")}, ("select record_name from RECORD_users", [["Ann"], ["Bo"]]),
      python="""import contextlib, singer
with open('tap.jsonl', 'w') as file, contextlib.redirect_stdout(file):
    singer.write_schema('users', {'properties': {'id': {'type': 'integer'}}}, ['id'])
    singer.write_records('users', [{'id': 1, 'name': 'Ann'}, {'id': 2, 'name': 'Bo'}])
    singer.write_state({'id': 2})""")  # fmt: skip
for form in ("json", "jsonl"):
    entry(f"django dumpdata {form}", ":django", None, f"data.{form}", {"data": (2, "model pk fields_name")}, ("select model, pk, fields_name from data", [["auth.group", 1, "a"], ["auth.group", 2, "b"]]),
          python=f"""import django
from django.conf import settings
settings.configure(INSTALLED_APPS=['django.contrib.auth', 'django.contrib.contenttypes'], DATABASES={{'default': {{'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}}}); django.setup()
from django.core import serializers
from django.contrib.auth.models import Group
open('data.{form}', 'w').write(serializers.serialize('{form}', [Group(pk=1, name='a'), Group(pk=2, name='b')], fields=['name']))""")  # fmt: skip
entry("jupyter notebook", ":nbformat", None, "n.ipynb --entity n", {"n": (2, "cell_type source")}, ("select cell_type from n", [["markdown"], ["code"]]),
      python="import nbformat.v4 as v\nimport nbformat\nnbformat.write(v.new_notebook(cells=[v.new_markdown_cell('# a'), v.new_code_cell('1 + 1')]), 'n.ipynb')")  # fmt: skip
entry(
    "swift package describe", "swift", "swift package init -q --type executable --name a >/dev/null 2>&1; swift package dump-package > p.json 2>/dev/null", "p.json --records '$'", {"p": (1, "name targets")}, ("select name from p", [["a"]])
)
TREE = "mkdir -p src && printf 'import os\\n' > src/a.py && printf 'echo $x\\n' > src/b.sh && printf 'os\\nos\\n' > src/c.md; "
entry("rg --json", "rg", TREE + "rg --json os src > rg.json", "rg.json --entity-by type", {"begin": (2, ""), "end": (2, ""), "match": (3, "data_path_text data_line_number"), "summary": (1, "")})
entry("cloc --json", "cloc", TREE + "cloc --json src > cloc.json", "cloc.json", {"cloc": (5, "key nFiles code")}, ("select code from cloc where key = 'Python'", [[1]]))
entry("shellcheck -f json1", "shellcheck jq", TREE + "shellcheck -f json1 src/b.sh > sc.json", "sc.json", {"sc": ("jq '.comments | length' sc.json", "file line code message")})
entry("tree -J", "tree", TREE + "tree -J src > tree.json", "tree.json --records '$[*].contents[*]' --entity file", {"file": (3, "type name")}, ("select name from file", [["a.py"], ["b.sh"], ["c.md"]]))
entry("hyperfine", "hyperfine", "hyperfine --export-json t.json -N -r 2 -w 0 true 'true x'", "t.json", {"t": (2, "command mean times")}, ("select command from t", [["true"], ["true x"]]))
BORG = TREE + "export BORG_BASE_DIR=$PWD/b; borg init -e none r; borg create r::a1 src; borg create r::a2 src; "
entry("borg list --json", "borg", BORG + "borg list --json r > b.json", "b.json", {"b": (2, "archive id time")}, ("select archive from b", [["a1"], ["a2"]]))
entry("borg list --json-lines", "borg", BORG + "borg list --json-lines r::a1 > b.json", "b.json", {"b": (4, "type path size")}, ("select path from b where type = '-' order by path", [["src/a.py"], ["src/b.sh"], ["src/c.md"]]))
entry("rclone lsjson", "rclone", TREE + "rclone lsjson src > r.json 2>/dev/null", "r.json", {"r": (3, "Path Size ModTime IsDir")}, ("select Path from r order by Path", [["a.py"], ["b.sh"], ["c.md"]]))
entry("jc --ls", "jc", TREE + "ls -l src | jc --ls > ls.json", "ls.json", {"ls": (3, "filename size owner")}, ("select filename from ls", [["a.py"], ["b.sh"], ["c.md"]]))
LEDGER = "printf '2024-01-01 a\\n  x:y  10 EUR\\n  z\\n\\n2024-01-02 b\\n  x:y  1.50 EUR\\n  z\\n' > l.journal; "
entry("hledger print -O json", "hledger", LEDGER + "hledger -f l.journal print -O json > l.json", "l.json", {"l": (2, "tdate tdescription tpostings")}, ("select tdate, tdescription from l", [["2024-01-01", "a"], ["2024-01-02", "b"]]))
entry("mpstat -o JSON", "mpstat", "mpstat -o JSON 1 1 > m.json", "m.json --records '$.sysstat.hosts[*].statistics[*]' --entity sample", {"sample": (1, "timestamp cpu-load")})
entry("lsfd -J", "lsfd jq", "lsfd -J > fd.json", "fd.json", {"fd": ("jq '.lsfd | length' fd.json", "command pid type")})
for name, why in (("docker logs", "dockerd"), ("elasticdump", "elasticdump"), ("meltano", "meltano"), ("great-expectations", "great_expectations")):
    entry(name, why, "false", "x.json", {}, None)


# MARK: Running them


def missing(needs, python):
    for need in needs:
        if need.startswith(":"):
            if subprocess.run([python, "-c", f"import {need[1:]}"], capture_output=True).returncode:
                return f"the Python module {need[1:]}"
        elif need == "postgres:initdb":
            if not [base for base, _, names in os.walk("/usr/lib/postgresql") if "initdb" in names]:
                return "PostgreSQL's initdb"
        elif not shutil.which(need):
            return need
    return None


def shell(command, folder, python):
    environment = dict(os.environ, PYTHON=python, TZ="UTC", LC_ALL="C.UTF-8")
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, timeout=180, stdin=subprocess.DEVNULL)


def wrong(case, importer, python, folder):
    """What is not as a person wants it."""
    _, _, make, typed, tables, checks, program = case
    if program is not None:
        made = subprocess.run([python, "-c", program], cwd=folder, capture_output=True, timeout=180)
    else:
        made = shell(make, folder, python)
    files = [name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)) and os.path.getsize(os.path.join(folder, name))]
    if program is not None and made.returncode or not files:
        return f"the writer failed: {made.stderr.decode(errors='replace')[-300:]}"
    done = shell(f"{shlex.quote(importer)} {typed.split(' <')[0]} --into store.sqlite --progress none" + (" <" + typed.split(" <")[1] if " <" in typed else ""), folder, python)
    said = done.stderr.decode(errors="replace")
    if done.returncode:
        return f"exit code {done.returncode}: {said[-600:]}"
    connection = sqlite3.connect(f"file:{folder}/store.sqlite?mode=ro", uri=True)
    try:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table' and name not like '~_import~_%' escape '~' order by 1")]
        if sorted(names) != sorted(tables):
            return f"the tables {names}, not {sorted(tables)}: {said[-600:]}"
        for name, (count, columns) in tables.items():
            there = [row[1] for row in connection.execute(f'pragma table_info("{name}")')]
            lacking = [column for column in columns.split() if column not in there]
            count = count if isinstance(count, int) else int(shell(count, folder, python).stdout)
            rows = connection.execute(f'select count(*) from "{name}"').fetchone()[0]
            if rows != count or lacking:
                return f"{name} has {rows} rows, not {count}, and lacks {lacking} of {there[:12]}: {said[-600:]}"
        for statement, expected in filter(None, checks):
            found = [list(row) for row in connection.execute(statement)]
            if found != expected:
                return f"{statement}: {found}, not {expected}: {said[-400:]}"
    except sqlite3.Error as error:
        return str(error)
    finally:
        connection.close()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--importer", default=os.environ.get("IMPORTER_EXECUTABLE", "importer"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--keep", action="store_true", help="keep the files")
    parser.add_argument("names", nargs="*", help="entries whose names begin so")
    settings = parser.parse_args()
    importer = os.path.abspath(settings.importer) if os.path.exists(settings.importer) else settings.importer
    right, bad, skipped = 0, 0, []
    root = tempfile.mkdtemp(prefix="importer-writers-")
    for number, case in enumerate(ENTRIES, 1):
        if settings.names and not any(case[0].startswith(name) for name in settings.names):
            continue
        lacking = missing(case[1], settings.python)
        if lacking:
            skipped.append(f"{case[0]} ({lacking})")
            continue
        folder = os.path.join(root, str(number))
        os.mkdir(folder)
        try:
            fault = wrong(case, importer, settings.python, folder)
        except (subprocess.TimeoutExpired, OSError, ValueError) as error:
            fault = f"{type(error).__name__}: {error}"
        right, bad = right + (fault is None), bad + (fault is not None)
        if fault is not None:
            print(f"{case[0]}: {fault}\n  files: {folder}\n  typed: importer {case[3]}", flush=True)
    print(f"{right} of {right + bad} right" + (f"; not installed: {', '.join(skipped)}" if skipped else ""))
    if not settings.keep and not bad:
        shutil.rmtree(root)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
