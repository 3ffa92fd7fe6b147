import Foundation

/// What a test waited for and never came.
package struct NeverCame: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// How long something may take before it counts as a hang: far more than on the busiest machine.
package let patience = Duration.seconds(900)

/// Waits for `body` to have a result.
///
/// It may take as long as `patience`.
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
    let deadline = ContinuousClock.now + patience
    while true {
        if let result = try body() { return result }
        guard ContinuousClock.now < deadline else {
            throw NeverCame("\(what) did not come\n" + instead())
        }
        usleep(30_000)
    }
}
