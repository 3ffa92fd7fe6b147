import Foundation

/// How many of its cases a test has time for.
///
/// All tests with a server have a minute of the checks that must be green before a change goes in. With `IMPORTER_TEST_CASES=all` in
/// the environment they have all cases.
package enum Cases {
    /// Whether tests have all cases.
    package static let areAll = ProcessInfo.processInfo.environment["IMPORTER_TEST_CASES"] == "all"

    /// The first few of a test's cases, or all of them.
    package static func few<Case>(_ count: Int, of cases: [Case]) -> [Case] {
        Array(cases.prefix(areAll ? cases.count : count))
    }

    /// How many random cases a test has.
    package static func few(_ count: Int, of all: Int) -> Int { areAll ? all : count }
}
