import Foundation

/// A program that stops itself again and again, right before it changes a file, so that a test can do something just then.
///
/// Nothing of a process is left but what it has changed: an interruption at any other moment is the same as at the next of
/// these. There is no race, however fast the program and however busy the machine.
package final class SteppedProgram: Sendable {
    package let child: ChildProcess
    /// It stops as long as this is there.
    private let file: String
    private let directory: TemporaryDirectory

    /// Starts a program and waits until it has stopped, or ended.
    ///
    /// - Parameters:
    ///   - step: how many changes there are from one stop to the next.
    ///   - kind: what counts as one, as `Tests/Faults/faults.c` names it.
    ///   - folder: only changes of files below it count.
    ///   - environment: added to this process's own.
    package init(
        _ command: [String],
        every step: Int,
        of kind: String = "change",
        below folder: String,
        input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws {
        directory = try TemporaryDirectory()
        file = try directory.write("", to: "stops")
        let faults = [
            "LD_PRELOAD": try Faults.shim(), "FAULTS_FOLDER": folder, "FAULTS_CALL": kind, "FAULTS_AT": "\(step)",
            "FAULTS_HOW": "stop", "FAULTS_WHILE": file,
        ]
        child = try ChildProcess(command, input: input, environment: environment.merging(faults) { $1 })
        _ = child.isStopped()
    }

    /// Lets it go to the next stop.
    ///
    /// - Returns: whether it has come to one; not so if it has ended.
    package func step() -> Bool {
        child.resume()
        return child.isStopped()
    }

    /// Lets it go until a store's user tables hold so many rows, or it has ended.
    ///
    /// - Returns: whether they hold so many.
    package func step(untilRows count: Int, in store: String) throws -> Bool {
        while child.isRunning {
            if let rows = try StoreContent.rowCountLeft(store), rows >= count { return true }
            guard step() else { return false }
        }
        return false
    }

    /// Lets it stop no more.
    ///
    /// - Returns: the program, which stays stopped where it is.
    @discardableResult
    package func released() -> ChildProcess {
        unlink(file)
        return child
    }
}
