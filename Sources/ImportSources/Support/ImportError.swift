import Foundation
import ImportModel

/// An error that ends an import or another call: why, what happened, where, and what to do.
public struct ImportError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// Exit codes after BSD's `sysexits.h`, and the shell's 128 + signal for interruptions.
    public enum Code: Int32, Sendable, CaseIterable {
        case usage = 64
        case badInput = 65
        case noInput = 66
        /// A server cannot be reached.
        case unavailable = 69
        case software = 70
        /// The system gives no thread or descriptor.
        case noResources = 71
        case cannotCreate = 73
        case io = 74
        case inUse = 75
        /// A server refuses the login, or what the user may do there is not enough.
        case noPermission = 77
        case hangup = 129
        case interrupted = 130
        case terminated = 143
    }

    /// Where in a source or in another file.
    public struct Position: Sendable, Hashable {
        /// The line, from 1.
        public var line: Int64?
        /// The column, in bytes from 1.
        public var column: Int64?
        /// The first byte, from 0, in decompressed bytes.
        public var byteOffset: Int64?
        /// The record's number in its import, from 1.
        public var record: Int64?
        /// The value in its record (`address.city`).
        public var keyPath: String?

        /// A position of which some is known.
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

    /// Its cause.
    public private(set) var reason: Reason
    /// The file, directory or store that it is about, as it was named (`-` is standard input); nil where there is none.
    public private(set) var path: String?
    /// Where in the file; nil where that is not known, or it is about no part of it.
    public let position: Position?
    /// Everything that is wrong with the model, where that is the cause.
    public let modelError: ModelError?
    /// What happened, and where.
    public private(set) var text: MessageText
    /// What to do about it; nil where there is nothing to advise.
    public private(set) var remedy: MessageText?

    /// The exit code that belongs to it.
    public var code: Code { reason.code }
    /// What happened, and where, in the words of programs.
    public var message: String { text.description }
    /// What to do about it, in the words of programs; nil where there is nothing to advise.
    public var advice: String? { remedy?.description }

    /// Whether it says that somebody asked to stop: what was committed stays, and the same call resumes.
    public var isInterruption: Bool { [.interrupted, .terminated, .hangup].contains(code) }

    /// Creates one.
    ///
    /// - Parameters:
    ///   - reason: its cause.
    ///   - path: the file, directory or store that it is about, which `what` then does not name.
    ///   - position: where in the file.
    ///   - what: what happened: `is a directory`.
    ///   - advice: what to do about it.
    ///   - modelError: everything that is wrong with the model, where that is the cause.
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

    /// A store that is needed is not there.
    package static func noStore(at path: String) -> ImportError {
        ImportError(.storeNotFound, at: path, "there is no such store", advice: "Check the path.")
    }

    /// Checks that a number that a program has given is in its range.
    ///
    /// - Throws: `ImportError` with `.usage`.
    package static func check<Number: Comparable & CustomStringConvertible>(
        _ name: String,
        _ value: Number,
        _ range: ClosedRange<Number>
    ) throws {
        guard !range.contains(value) else { return }
        throw ImportError(
            .optionInvalid,
            "\(name) is \(value)",
            advice: "It must be from \(range.lowerBound) to \(range.upperBound)."
        )
    }

    /// Message and advice, a line each.
    public var description: String {
        guard let advice else { return message }
        return "\(message)\n\(advice)"
    }

    /// What happened, and where, as Foundation asks for it.
    public var errorDescription: String? { message }
    /// What to do about it, as Foundation asks for it.
    public var recoverySuggestion: String? { advice }
}
