import Foundation
import TestSupport

/// Generated records, the same for the same seed.
struct Samples {
    /// The records' JSON texts, each on one line.
    let records: [String]

    var array: String { "[" + records.joined(separator: ",") + "]" }
    var ndjson: String { records.joined(separator: "\n") + "\n" }
    var concatenated: String { records.joined() }
    /// An object keyed by made-up ids.
    var keyed: String {
        "{" + records.enumerated().map { "\"k\($0.offset)\": \($0.element)" }.joined(separator: ",\n") + "}"
    }
    /// An array with line breaks within the records.
    var pretty: String {
        "[\n  " + records.map { $0.replacingOccurrences(of: ",\"", with: ",\n    \"") }.joined(separator: ",\n  ")
            + "\n]"
    }

    /// People: nested objects, arrays, nulls, dates, text beyond ASCII, a number that is sometimes a string, keys that
    /// come late or are missing, ids that come again.
    static func people(count: Int, seed: UInt64) -> Samples {
        var generator = SeededGenerator(seed: seed)
        let cities = ["Zürich", "東京", "São Paulo", "Oslo", "Кыів", "😀ville"]
        return Samples(
            records: (0..<count).map { index in
                let id = generator.next(10) == 0 ? generator.next(index + 1) : index
                let age = generator.next(9) == 0 ? "\"\(generator.next(90))\"" : "\(generator.next(90))"
                var text = "{\"id\":\(id),\"guid\":\"g-\(id)\",\"name\":\"Ann \\\"\(index)\\\" \\u00e9\",\"age\":\(age)"
                text += ",\"balance\":\(generator.next(100_000)).\(10 + generator.next(90))"
                text += ",\"address\":{\"city\":\"\(cities[generator.next(cities.count)])\""
                if generator.next(3) == 0 { text += ",\"zip\":\"0\(generator.next(10_000))\"" }
                text += "}"
                if generator.next(4) > 0 { text += ",\"tags\":[\"t\(generator.next(5))\",null]" }
                if generator.next(5) == 0 { text += ",\"note\":null" }
                if index > count / 2, generator.next(7) == 0 { text += ",\"late\":\(generator.next(2) == 0)" }
                text += ",\"created\":\"2024-0\(1 + generator.next(9))-1\(generator.next(10))T08:30:00Z\"}"
                return text
            }
        )
    }

    /// The same with faults: every 23rd record has an age that is no number and lacks its id.
    static func peopleWithFaults(count: Int, seed: UInt64) -> Samples {
        Samples(
            records: people(count: count, seed: seed).records.enumerated().map { index, record in
                guard index % 23 == 11 else { return record }
                return record.replacingOccurrences(of: "\"id\":", with: "\"ident\":")
                    .replacingOccurrences(of: "\"age\":", with: "\"age\":\"n/a\",\"aged\":")
            }
        )
    }

    /// A model for the people; `identifier` is `id`, `guid` or empty.
    static func model(records: String = "$[*]", identifier: String = "") -> String {
        """
        {"entities": {"Person": {
          "records": "\(records)",
          "table": "person",
          \(identifier.isEmpty ? "" : "\"identifier\": [\"\(identifier)\"],")
          "attributes": {
            "id": {"type": "integer64"},
            "guid": {"type": "string"},
            "name": {"type": "string", "optional": true},
            "age": {"type": "integer16", "optional": true},
            "balance": {"type": "decimal", "default": "0"},
            "city": {"type": "string", "optional": true, "from": "address.city"},
            "zip": {"type": "string", "optional": true, "from": ["address.zip", "zip"]},
            "tags": {"type": "json", "optional": true},
            "late": {"type": "boolean", "optional": true, "default": false},
            "created": {"type": "date", "format": ["iso8601"]}
          }
        }}}
        """
    }
}
