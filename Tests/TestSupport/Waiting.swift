import Foundation

/// What a test waited for and never came.
package struct NeverCame: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Waits for `body` to have a result.
///
/// It may take two minutes: a machine that runs all tests at once has a lot else to do.
///
/// - Parameters:
///   - what: what is waited for.
///   - instead: what there was instead, for the message.
@discardableResult
package func wait<Result>(
    for what: String,
    instead: () -> String = { "" },
    _ body: () throws -> Result?
) throws -> Result {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
        if let result = try body() { return result }
        guard ContinuousClock.now < deadline else {
            throw NeverCame("\(what) did not come\n" + instead())
        }
        usleep(30_000)
    }
}
