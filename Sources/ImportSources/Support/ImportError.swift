import Foundation
import ImportModel

/// An error of an import or another call: its cause, what happened, where, and what to do.
public struct ImportError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// Exit codes after BSD's `sysexits.h`, and the shell's 128 + signal for interruptions.
    public enum Code: Int32, Sendable, CaseIterable {
        case usage = 64
        case badInput = 65
        case noInput = 66
        /// A server cannot be reached.
        case unavailable = 69
        case software = 70
        /// The system provides no thread or descriptor.
        case noResources = 71
        case cannotCreate = 73
        case io = 74
        case inUse = 75
        /// A server refuses the login, or the user lacks a permission.
        case noPermission = 77
        case hangup = 129
        case interrupted = 130
        case terminated = 143
    }

    /// A position in a source or another file.
    public struct Position: Sendable, Hashable {
        /// The line, from 1.
        public var line: Int64?
        /// The column, in bytes from 1.
        public var column: Int64?
        /// The offset of the first byte, in decompressed bytes from 0.
        public var byteOffset: Int64?
        /// The record's ordinal in its import, from 1.
        public var record: Int64?
        /// The key path of the value in its record (`address.city`).
        public var keyPath: String?

        /// Creates a position; parts that are unknown are nil.
        public init(
            line: Int64? = nil,
            column: Int64? = nil,
            byteOffset: Int64? = nil,
            record: Int64? = nil,
            keyPath: String? = nil
        ) {
            self.line = line
            self.column = column
            self.byteOffset = byteOffset
            self.record = record
            self.keyPath = keyPath
        }
    }

    /// The cause.
    public private(set) var reason: Reason
    /// The file, directory or store, as it was named (`-` is standard input); nil if there is none.
    public private(set) var path: String?
    /// The position in the file; nil if it is unknown, or the error concerns the whole file.
    public let position: Position?
    /// The mistakes of the model, if they are the cause.
    public let modelError: ModelError?
    /// A description of what happened, and where.
    public private(set) var text: MessageText
    /// Advice on what to do; nil if there is none.
    public private(set) var remedy: MessageText?

    /// The exit code for this error.
    public var code: Code { reason.code }
    /// What happened, and where, with settings named as in Swift.
    public var message: String { text.description }
    /// Advice on what to do, with settings named as in Swift; nil if there is none.
    public var advice: String? { remedy?.description }

    /// True if the call was interrupted: commits stay, and the same call resumes.
    public var isInterruption: Bool { [.interrupted, .terminated, .hangup].contains(code) }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - reason: the cause.
    ///   - path: the file, directory or store; `what` then does not name it.
    ///   - position: the position in the file.
    ///   - what: what happened: `is a directory`.
    ///   - advice: what to do.
    ///   - modelError: the mistakes of the model, if they are the cause.
    public init(
        _ reason: Reason,
        at path: String? = nil,
        position: Position? = nil,
        _ what: MessageText,
        advice: MessageText? = nil,
        modelError: ModelError? = nil
    ) {
        self.reason = reason
        self.path = path
        self.position = position
        self.modelError = modelError
        text = path.map { "\($0.shownPath): \(what)" } ?? what
        remedy = advice
    }

    /// The same error as one about a path that its text names already.
    package func about(_ path: String) -> ImportError {
        var error = self
        error.path = path
        return error
    }

    /// The same error with other advice.
    package func advising(_ advice: MessageText) -> ImportError {
        var error = self
        error.remedy = advice
        return error
    }

    /// The same error in other words.
    package func saying(_ text: MessageText) -> ImportError {
        var error = self
        error.text = text
        return error
    }

    /// The same error where it has another cause: what cannot be read there, say, stops something from being made.
    package func becoming(_ reason: Reason) -> ImportError {
        var error = self
        error.reason = reason
        return error
    }

    /// What to do where nothing is at a record path.
    package static let adviceForRecordPaths: MessageText =
        "Check \(.records). Without it, the importer finds the records, or lists the record paths where they could be."

    /// A store that is needed is not there.
    package static func noStore(at path: String) -> ImportError {
        ImportError(.storeNotFound, at: path, "there is no such store", advice: "Check the path.")
    }

    /// Checks that a number that a program has given is in its range.
    ///
    /// - Throws: `ImportError` with `.usage`.
    package static func check<Number: BinaryInteger>(
        _ name: String,
        _ value: Number,
        _ range: ClosedRange<Number>
    ) throws {
        guard !range.contains(value) else { return }
        throw ImportError(
            .optionInvalid,
            "\(name) is \(value)",
            advice: "It must be from \(range.lowerBound) to \(range.upperBound.grouped)."
        )
    }

    /// The message and the advice, a line each.
    public var description: String {
        guard let advice else { return message }
        return "\(message)\n\(advice)"
    }

    /// The message, for Foundation.
    public var errorDescription: String? { message }
    /// The advice, for Foundation.
    public var recoverySuggestion: String? { advice }
}
