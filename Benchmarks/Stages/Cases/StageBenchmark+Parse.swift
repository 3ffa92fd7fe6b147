import Foundation

/// Putting the records of chunk files on tapes.
extension StageBenchmark {
    static var parsing: [StageBenchmark] {
        [
            StageBenchmark("Parse_people", floor: "Parse_floor_yajl") { place in
                let probe = try place.probe()
                let tokens = try YajlCount.of(try place.source(.ndjson)).tokens
                return { measure in
                    var parsed = (records: 0, tokens: 0)
                    try measure { parsed = try probe.parse() }
                    try expect("records", parsed.records, is: place.records)
                    try expect("tokens", parsed.tokens, is: tokens)
                }
            },
            StageBenchmark("Parse_floor_yajl", floor: "Parse_floor_memcpy") { place in
                let source = try place.source(.ndjson)
                return { measure in
                    var count = YajlCount()
                    try measure { count = try YajlCount.of(source) }
                    try expect("objects", count.objects, is: place.records * 2)
                }
            },
            StageBenchmark("Parse_floor_memcpy") { place in
                let text = place.people.text(.ndjson)
                var copy = [UInt8](repeating: 0, count: text.count)
                return { measure in
                    copy[text.count - 1] = 0
                    try measure {
                        copy.withUnsafeMutableBytes { copy in
                            text.withUnsafeBytes { copy.copyMemory(from: $0) }
                        }
                    }
                    try expect("the last byte", copy[text.count - 1], is: 0x0A)
                }
            },
        ]
    }
}
