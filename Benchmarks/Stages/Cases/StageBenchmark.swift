/// Measures what it is handed.
package typealias Measure = (() throws -> Void) throws -> Void

/// One benchmark: a stage's work on made-up data, or the least that this work could cost.
package struct StageBenchmark {
    /// `Stage_case`, or `Stage_floor_what`.
    package let name: String
    /// The benchmark that this one is read against; nil for a floor.
    package let floor: String?
    /// How many times each record is gone through in a run.
    package let passes: Int
    /// Called once; what it returns is called for each run.
    ///
    /// That one gives the part that counts to its `Measure`, once, and throws if the result is wrong.
    package let prepare: (Workplace) throws -> (Measure) throws -> Void

    init(
        _ name: String,
        floor: String? = nil,
        passes: Int = 1,
        prepare: @escaping (Workplace) throws -> (Measure) throws -> Void
    ) {
        self.name = name
        self.floor = floor
        self.passes = passes
        self.prepare = prepare
    }

    /// All of them, in the order in which data flow.
    package static var all: [StageBenchmark] {
        splitting + parsing + coercing + binding + committing + viewing + endToEnd
    }
}

/// A benchmark did something else than it should: how long that took says nothing.
struct WrongResult: Error, CustomStringConvertible {
    let description: String
}

/// Checks a result.
///
/// - Throws: `WrongResult` if it is not what it should be.
func expect<Value: Equatable>(_ what: String, _ found: Value, is expected: Value) throws {
    if found != expected { throw WrongResult(description: "\(what): \(found) and not \(expected)") }
}
