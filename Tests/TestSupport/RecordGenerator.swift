/// Makes records of a few objects, the same for the same seed.
package struct RecordGenerator {
    package var random: SeededGenerator

    /// `count` records; `members` gives each one's, as JSON has them.
    package static func records(
        _ count: Int,
        seed: UInt64,
        members: (inout RecordGenerator) -> [String]
    ) -> [String] {
        var generator = RecordGenerator(random: SeededGenerator(seed: seed))
        return (0..<count).map { _ in "{" + members(&generator).joined(separator: ", ") + "}" }
    }

    /// `true` in `percent` of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }

    /// A number from 0 up to `limit`.
    package mutating func number(below limit: Int) -> Int { random.next(limit) }

    /// One of `limit` JSON strings that begin with `name`.
    package mutating func text(_ name: String, below limit: Int) -> String { "\"\(name)\(number(below: limit))\"" }

    /// One of these.
    package mutating func one(of values: [String]) -> String { values[number(below: values.count)] }
}
