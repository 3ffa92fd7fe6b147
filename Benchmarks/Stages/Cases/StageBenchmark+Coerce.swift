import Foundation
import ImportModel

/// Turning JSON values into those of attributes.
extension StageBenchmark {
    static var coercing: [StageBenchmark] {
        [
            coerce("Coerce_integers", .integer64, floor: "Coerce_floor_strtoll") { random in
                let number = Int64(truncatingIfNeeded: random.next() >> 20)
                return (.number, "\(number)", .integer(number))
            },
            coerce("Coerce_doubles", .double, floor: "Coerce_floor_strtod") { random in
                let text = Self.fraction(random.next())
                return (.number, text, .real(Double(text) ?? .nan))
            },
            coerce("Coerce_decimals", .decimal, floor: "Coerce_floor_memcpy") { random in
                let text = Self.fraction(random.next())
                return (.number, text, .text(text))
            },
            coerce("Coerce_dates", .date, floor: "Coerce_floor_memcpy") { random in
                let text = People.date(random.next(), random.next())
                return (.string, text, .text(text.dropLast() + ".000Z"))
            },
            coerce("Coerce_uuids", .uuid, floor: "Coerce_floor_memcpy") { random in
                let text = Self.uuid(random.next(), random.next())
                return (.string, text, .text(text))
            },
            coerce("Coerce_uuidsInCapitals", .uuid, floor: "Coerce_floor_memcpy") { random in
                let text = Self.uuid(random.next(), random.next())
                return (.string, text.uppercased(), .text(text))
            },
            coerce("Coerce_escapes", .string, floor: "Coerce_floor_memcpy") { random in
                let word = String(random.next(), radix: 36)
                return (.string, #"said \"\#(word)\",\nthen caf\u00e9"#, .text("said \"\(word)\",\nthen café"))
            },
            StageBenchmark("Coerce_people", floor: "Parse_people") { place in
                let probe = try place.probe()
                return { measure in
                    var decoded = (rows: 0, rejects: 0)
                    try measure { decoded = try probe.decode() }
                    try expect("rows", decoded.rows, is: place.records)
                    try expect("rejects", decoded.rejects, is: 0)
                }
            },
            StageBenchmark("Coerce_floor_strtoll", passes: passes) { place in
                var random = Random(state: 1)
                let values = (0..<place.records).map { _ in Int64(truncatingIfNeeded: random.next() >> 20) }
                let text = values.map { "\($0)," }.joined()
                let sum = values.reduce(0, &+)
                return { measure in
                    var found: Int64 = 0
                    try measure {
                        found = eachNumber(in: text, place.records) { Int64(strtoll($0, &$1, 10)) }
                    }
                    try expect("sum", found, is: sum &* Int64(passes))
                }
            },
            StageBenchmark("Coerce_floor_strtod", passes: passes) { place in
                var random = Random(state: 1)
                let texts = (0..<place.records).map { _ in Self.fraction(random.next()) }
                let text = texts.map { "\($0)," }.joined()
                let sum = texts.reduce(Int64(0)) { $0 &+ Int64(bitPattern: (Double($1) ?? .nan).bitPattern) }
                return { measure in
                    var found: Int64 = 0
                    try measure {
                        found = eachNumber(in: text, place.records) { Int64(bitPattern: strtod($0, &$1).bitPattern) }
                    }
                    try expect("sum", found, is: sum &* Int64(passes))
                }
            },
            StageBenchmark("Coerce_floor_memcpy", passes: passes) { place in
                let text = [UInt8](repeating: 0x61, count: 36 * place.records)
                var scratch = [UInt8](repeating: 0, count: 36)
                return { measure in
                    var sum = 0
                    try measure {
                        for _ in 0..<passes {
                            for place in 0..<place.records {
                                scratch.withUnsafeMutableBytes { scratch in
                                    text.withUnsafeBytes {
                                        let value = UnsafeRawBufferPointer(rebasing: $0[place * 36..<place * 36 + 36])
                                        scratch.copyMemory(from: value)
                                    }
                                    sum += Int(scratch[place % 36])
                                }
                            }
                        }
                    }
                    try expect("sum", sum, is: 0x61 * place.records * passes)
                }
            },
        ]
    }

    /// A run goes over all values so often, as one time takes only moments.
    private static let passes = 4

    /// - Parameter make: gives a value's kind, its bytes as they are in a record, and what is made of it.
    private static func coerce(
        _ name: String,
        _ type: AttributeType,
        floor: String,
        make: @escaping (inout Random) -> (JSONKind, String, CoercedJSON)
    ) -> StageBenchmark {
        StageBenchmark(name, floor: floor, passes: passes) { place in
            let coercion = try AttributeCoercion(AttributeDescription(name: "value", type: type))
            var random = Random(state: 1)
            var values = Values()
            for _ in 0..<place.records {
                let (kind, text, expected) = make(&random)
                values.append(kind, text, expected)
            }
            try values.check(coercion)
            return { measure in
                var sum: Int64 = 0
                try measure {
                    sum = 0
                    for _ in 0..<passes { sum &+= try values.sum(coercion) }
                }
                try expect("sum", sum, is: values.expectedSum &* Int64(passes))
            }
        }
    }

    private static func fraction(_ number: UInt64) -> String {
        "\(number & 1 == 0 ? "" : "-")\(number >> 8 % 100_000).\(number >> 32 % 10)\(number >> 40 % 9 + 1)"
    }

    private static func uuid(_ a: UInt64, _ b: UInt64) -> String {
        let digits = People.padded(a, 16, radix: 16) + People.padded(b, 16, radix: 16)
        return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-\(digits.dropFirst(12).prefix(4))"
            + "-\(digits.dropFirst(16).prefix(4))-\(digits.suffix(12))"
    }

    /// Calls `read` with each number of a text that has them one after the other, with a comma each.
    @inline(__always)
    private static func eachNumber(
        in text: String,
        _ count: Int,
        _ read: (UnsafePointer<CChar>, inout UnsafeMutablePointer<CChar>?) -> Int64
    ) -> Int64 {
        text.withCString { start in
            var sum: Int64 = 0
            for _ in 0..<passes {
                var next = start
                for _ in 0..<count {
                    var end: UnsafeMutablePointer<CChar>?
                    sum &+= read(next, &end)
                    if let end { next = UnsafePointer(end) + 1 }
                }
            }
            return sum
        }
    }
}

/// Values as they are in records, and what is to be made of them.
private struct Values {
    private var bytes: [UInt8] = []
    private var tokens: [(kind: JSONKind, range: Range<Int>, hasEscapes: Bool)] = []
    private var expected: [CoercedJSON] = []

    mutating func append(_ kind: JSONKind, _ text: String, _ expected: CoercedJSON) {
        let start = bytes.count
        bytes += text.utf8
        tokens.append((kind, start..<bytes.count, text.contains(#"\"#)))
        self.expected.append(expected)
    }

    /// What `sum` must give: integers and the bits of doubles, and of texts how long they are.
    var expectedSum: Int64 {
        expected.reduce(0) { sum, value in
            switch value {
            case .integer(let value): sum &+ value
            case .real(let value): sum &+ Int64(bitPattern: value.bitPattern)
            case .text(let text): sum &+ Int64(text.utf8.count)
            default: sum
            }
        }
    }

    func sum(_ coercion: AttributeCoercion) throws -> Int64 {
        var sum: Int64 = 0
        try each(coercion) { _, value, _ in
            switch value {
            case .integer(let value): sum &+= value
            case .real(let value): sum &+= Int64(bitPattern: value.bitPattern)
            case .verbatim(let bytes): sum &+= Int64(bytes.count)
            case .scratch(let range): sum &+= Int64(range.count)
            default: break
            }
        }
        return sum
    }

    /// Checks value for value.
    func check(_ coercion: AttributeCoercion) throws {
        try each(coercion) { index, value, scratch in
            let found: CoercedJSON =
                switch value {
                case .null: .null
                case .integer(let value): .integer(value)
                case .real(let value): .real(value)
                case .verbatim(let bytes): .text(String(decoding: bytes.buffer, as: UTF8.self))
                case .scratch(let range): .text(String(decoding: scratch[range], as: UTF8.self))
                case .blob(let range): .blob(Array(scratch[range]))
                }
            try expect("value \(index)", found, is: expected[index])
        }
    }

    @inline(__always)
    private func each(_ coercion: AttributeCoercion, _ body: (Int, CoercedValue, [UInt8]) throws -> Void) throws {
        var scratch: [UInt8] = []
        scratch.reserveCapacity(256)
        try bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(buffer)
            for (index, token) in tokens.enumerated() {
                scratch.removeAll(keepingCapacity: true)
                var notes: CoercionNotes = []
                let value = try coercion.coerce(
                    JSONToken(kind: token.kind, bytes: all[token.range], hasEscapes: token.hasEscapes),
                    scratch: &scratch,
                    notes: &notes
                )
                try body(index, value, scratch)
            }
        }
    }
}
