import Foundation
import ImportModel

/// Made-up records, the same ones every time: those of `scripts/generate-records` in kind, 13 columns in about 315 bytes.
struct People {
    enum Format {
        case array
        case ndjson
    }

    /// Numbers that tell whether a store has all of the records.
    struct Sums: Equatable {
        var records = 0
        var ids = 0
        var ages = 0
        var active = 0
        var notes = 0
        var cents = 0
    }

    let count: Int
    /// What the records add up to, worked out from the numbers that they are made of.
    private(set) var sums = Sums()
    private var lines: [UInt8] = []

    init(count: Int) {
        self.count = count
        lines.reserveCapacity(count * 330)
        var random = Random(state: 0x1234567)
        for number in 1...count {
            append(number, random.next(), random.next())
            lines.append(0x0A)
        }
    }

    /// The records as they are in a source.
    func text(_ format: Format) -> [UInt8] {
        guard format == .array else { return lines }
        var text: [UInt8] = Array("[\n".utf8)
        text.reserveCapacity(lines.count + count + 4)
        for line in lines.split(separator: 0x0A) {
            if text.count > 2 { text += ",\n".utf8 }
            text += line
        }
        text += "\n]\n".utf8
        return text
    }

    /// The model for them.
    ///
    /// - Parameter identifier: the attribute that is the identifier.
    static func model(identifier: String? = nil) throws -> ModelDescription {
        func attribute(_ name: String, _ type: AttributeType, from path: String? = nil) throws -> AttributeDescription {
            AttributeDescription(
                name: name,
                type: type,
                isOptional: name == "note",
                from: try path.map { [try AttributePath($0)] }
            )
        }
        return ModelDescription(
            entities: [
                EntityDescription(
                    name: "people",
                    identifier: identifier.map { [$0] } ?? [],
                    attributes: [
                        try attribute("id", .integer64), try attribute("guid", .uuid), try attribute("name", .string),
                        try attribute("age", .integer32), try attribute("score", .double),
                        try attribute("balance", .double), try attribute("active", .boolean),
                        try attribute("created", .date),
                        try attribute("address_street", .string, from: "address.street"),
                        try attribute("address_city", .string, from: "address.city"),
                        try attribute("address_zip", .string, from: "address.zip"), try attribute("tags", .json),
                        try attribute("note", .string),
                    ]
                )
            ]
        )
    }

    // MARK: Making

    private static let names = [
        "Ada", "Åsa", "Bjørn", "Chloë", "Đorđe", "Élodie", "Γιώργος", "Håkon", "Íris", "Jürgen", "Łukasz", "Мария", "渚",
        "Zoë", "Jörg", "אביגיל",
    ]
    private static let cities = ["Århus", "Cádiz", "Eger", "Gdańsk", "İzmir", "Jyväskylä", "München", "Örebro"]
    private static let tags = ["alpha", "beta", "gamma", "épsilon", "theta", "lambda", "mu"]
    private static let notes = [
        #"said \"yes\",\nthen left"#, #"path C:\\data\\in"#, #"caf\u00e9 at noon"#, #"smile \ud83d\ude00"#, "plain",
        "größer als nötig",
    ]

    private mutating func append(_ number: Int, _ a: UInt64, _ b: UInt64) {
        let age = 18 + Int(a >> 18 % 80)
        let cents = Int(b % 20_000_000) - 5_000_000
        let isActive = b & 1 == 1
        let note = b >> 5 % 3 == 0 ? Self.notes[Int(b >> 9 % 6)] : nil
        sums.records += 1
        sums.ids += number
        sums.ages += age
        sums.active += isActive ? 1 : 0
        sums.notes += note == nil ? 0 : 1
        sums.cents += cents

        let digits = Self.padded(a, 16, radix: 16) + Self.padded(b, 16, radix: 16)
        lines += "{\"id\": \(number), \"guid\": \"".utf8
        lines += digits.prefix(8).utf8
        lines += "-\(digits.dropFirst(8).prefix(4))-4\(digits.dropFirst(13).prefix(3))-a".utf8
        lines += "\(digits.dropFirst(17).prefix(3))-\(digits.suffix(12))\", \"name\": \"".utf8
        lines += "\(Self.names[Int(a >> 8 % 16)]) \(Self.names[Int(a >> 12 % 16)])son\", \"age\": \(age), ".utf8
        let score = "\(a % 100_000 / 100).\(Self.padded(a % 100, 2))"
        lines += "\"score\": \(b % 40 == 7 ? "\"\(score)\"" : score), \"balance\": ".utf8
        let magnitude = cents.magnitude
        lines += "\(cents < 0 ? "-" : "")\(magnitude / 100).\(Self.padded(UInt64(magnitude % 100), 2)), ".utf8
        lines += "\"active\": \(isActive), \"created\": \"\(Self.date(a, b))\", \"address\": {\"street\": \"".utf8
        lines += "\(1 + a >> 40 % 200) Kärntner Straße\", \"city\": \"\(Self.cities[Int(b >> 24 % 8)])\", ".utf8
        lines += "\"zip\": \"\(Self.padded(b >> 28 % 100_000, 5))\"}, \"tags\": [".utf8
        for place in 0..<Int(b >> 46 % 5) {
            lines += "\(place == 0 ? "" : ", ")\"\(Self.tags[(Int(b >> 50 % 7) + place) % 7])\"".utf8
        }
        lines += "], \"note\": \(note.map { "\"\($0)\"" } ?? "null")}".utf8
    }

    /// An instant in UTC, as the records have them.
    static func date(_ a: UInt64, _ b: UInt64) -> String {
        let day = b >> 16 % 8_064
        let second = a >> 20 % 86_400
        return "\(2000 + day / 336)-\(padded(day / 28 % 12 + 1, 2))-\(padded(day % 28 + 1, 2))"
            + "T\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
    }

    static func padded(_ number: UInt64, _ width: Int, radix: Int = 10) -> String {
        let digits = String(number, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// splitmix64: the same numbers on every machine.
struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
