"""Writes a small input of each of the origins that the article "Sources" has a command for, into the folder that is given."""
import gzip
import json
import os
import sys
import zipfile

FOLDER = sys.argv[1]


def write(path, text):
    path = os.path.join(FOLDER, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def packed(value):
    return gzip.compress((json.dumps(value) + "\n").encode())


with zipfile.ZipFile(os.path.join(FOLDER, "slack.zip"), "w") as archive:
    archive.writestr("users.json", json.dumps([{"id": "U1", "name": "ann"}]))
    for channel in ("general", "random"):
        archive.writestr(f"{channel}/2024-01-01.json", json.dumps([{"user": "U1", "ts": "1.1", "text": channel}]))
write("twitter/data/tweets.js", 'window.YTD.tweets.part0 = [\n {"tweet": {"id": "1", "full_text": "hi"}}\n]\n')
write("twitter/data/like.js", 'window.YTD.like.part0 = [\n {"like": {"tweetId": "9", "fullText": "ho"}}\n]\n')
write("Takeout/Location History/Records.json", json.dumps({"locations": [{"latitudeE7": 599000000, "accuracy": 5}]}))
write("Takeout/YouTube/history/watch-history.json", json.dumps([{"title": "x", "time": "2024-01-01T00:00:00Z"}]))
for minute in ("05", "10"):
    name = f"cloudtrail/2024/01/01/123456789012_CloudTrail_eu-west-1_20240101T00{minute}Z_a{minute}.json.gz"
    write(name, packed({"Records": [{"eventName": "GetObject", "eventTime": f"2024-01-01T00:{minute}:00Z"}]}))
write("users.json", '{"_id":{"$oid":"5f1d7f0e8f1b2c3d4e5f6a7b"},"n":{"$numberLong":"5"}}\n')
write("dump.json", '{"_index":"shop","_id":"1","_source":{"name":"a"}}\n{"_index":"shop","_id":"2","_source":{"name":"b"}}\n')
columns = [{"id": -1, "name": "sid", "dataTypeName": "meta_data"}, {"id": 2, "name": "Name", "dataTypeName": "text"}]
rows = [["row-1", "Oslo"], ["row-2", "Bergen"]]
write("rows.json", json.dumps({"meta": {"view": {"id": "ab12-cd34", "columns": columns}}, "data": rows}))
write("census.json", json.dumps([["NAME", "P1", "state"], ["Alabama", 5024279, "01"], ["Alaska", 733391, "02"]]))
point = {"type": "Point", "coordinates": [10.7, 59.9]}
features = [{"type": "Feature", "properties": {"name": "Oslo"}, "geometry": point}]
write("map.geojson", json.dumps({"type": "FeatureCollection", "features": features}))
entries = [{"pageref": "p1", "time": 12, "request": {"method": "GET", "url": "https://example.org/"}}]
write("page.har", json.dumps({"log": {"version": "1.2", "pages": [{"id": "p1", "title": "t"}], "entries": entries}}))
write("journal.txt", '{"MESSAGE":"started","PRIORITY":"6"}\n{"MESSAGE":"stopped","PRIORITY":"5"}\n')
for name, line in (("ab12", "hello"), ("cd34", "oops")):
    write(f"containers/{name}/{name}-json.log", json.dumps({"log": line, "stream": "stdout", "time": "1"}) + "\n")
write("firehose/2024/01/01/stream-1-2024-01-01-00-00-00-ab", '{"id":1,"v":"a"}{"id":2,"v":"b"}')
write("firehose/2024/01/01/stream-1-2024-01-01-00-05-00-cd", '{"id":3,"v":"c"}{"id":4,"v":"d"}')
for page in (1, 2):
    data = [{"id": f"ch_{page}", "amount": 100 * page}]
    write(f"charges-{page}.json", json.dumps({"object": "list", "url": "/v1/charges", "has_more": page == 1, "data": data}))
for hour in (0, 1):
    write(f"2024-01-01-{hour}.json.gz", packed({"id": str(hour), "type": "PushEvent", "actor": {"id": 1}}))
    write(f"works/updated_date=2024-01-0{hour + 1}/part_000.gz", packed({"id": f"W{hour}", "title": "t"}))
write("latest-all.json", '[\n{"id":"Q1","type":"item","labels":{"en":{"value":"universe"}}},\n{"id":"Q2","type":"item","labels":{}}\n]\n')
patients = [{"fullUrl": f"u{number}", "resource": {"resourceType": "Patient", "id": str(number)}} for number in (1, 2)]
write("bundle.json", json.dumps({"resourceType": "Bundle", "link": [{"relation": "self", "url": "x"}], "entry": patients}))
packages = {"": {"name": "app"}, "node_modules/a": {"version": "1.0.0"}, "node_modules/b": {"version": "2.0.0"}}
write("package-lock.json", json.dumps({"name": "app", "lockfileVersion": 3, "packages": packages}))
charges = [{"description": "a", "standard_charges": [{"gross_charge": 1.5, "setting": "both"}]}]
write("prices.json", json.dumps({"hospital_name": "X", "last_updated_on": "2024-07-01", "standard_charge_information": charges}))
for part in (1, 2):
    item = {"Item": {"id": {"N": str(part)}, "name": {"S": "a"}, "tags": {"L": [{"S": "x"}]}}}
    write(f"export/AWSDynamoDB/01-ab/data/part-{part}.json.gz", packed(item))
bulk = [{"index": {"_index": "people", "_id": "1"}}, {"name": "a"}, {"create": {"_index": "orders", "_id": "2"}}, {"price": 1.5}]
write("bulk.ndjson", "".join(json.dumps(line) + "\n" for line in bulk))
write("frame.json", json.dumps({"id": {"0": 1, "1": 2}, "city": {"0": "Oslo", "1": None}}))
types = [{"name": "id", "type": "bigint"}, {"name": "city", "type": "varchar"}]
write("answer.json", json.dumps({"id": "20240101_0", "columns": types, "data": [[1, "Oslo"], [2, "Bergen"]]}))
write("pod.log", '2024-01-02T03:04:05.123456789Z {"level":"info","n":1}\n2024-01-02T03:04:06.123456789Z {"level":"warn","n":2}\n')
schema = {"type": "SCHEMA", "stream": "users", "schema": {"properties": {"id": {"type": "integer"}}}, "key_properties": ["id"]}
messages = [schema] + [{"type": "RECORD", "stream": "users", "record": {"id": number}} for number in (1, 2)]
messages.append({"type": "STATE", "value": {"bookmark": 2}})
write("tap.jsonl", "".join(json.dumps(message) + "\n" for message in messages))
