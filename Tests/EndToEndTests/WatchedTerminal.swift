import TestSupport
import Testing

/// What the tests of the live view ask of a terminal that shows it.
extension TerminalSession {
    /// Shows a store of `FedRecords`.
    convenience init(
        watching store: String,
        _ options: String = "",
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = ["LC_ALL": "C.UTF-8"]
    ) throws {
        try self.init(
            "'\(Project.importer)' watch '\(store)' \(options)",
            columns: columns,
            rows: rows,
            environment: environment
        )
    }

    /// Waits for the state in the title, and for what else is wanted of the records' identifiers.
    @discardableResult
    func shows(_ state: String? = nil, until isWanted: ([Int]) throws -> Bool = { !$0.isEmpty }) throws -> [String] {
        try screen("records") { lines in
            if let state, lines.first?.hasSuffix(state) != true { return false }
            return try isWanted(lines.recordIDs)
        }
    }

    /// Waits for the end, after which the terminal is as it was and shows what was printed.
    func ends(
        with status: Int = 0,
        printing text: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try end() == status, sourceLocation: sourceLocation)
        #expect(try isRestored(), sourceLocation: sourceLocation)
        if let text { try printed(text) }
    }

    /// Feeds more, a few at a time, until the screen is as wanted.
    func shows(feeding records: FedRecords, until isWanted: ([String]) -> Bool) throws {
        try screen("what was fed") { lines in
            if isWanted(lines) { return true }
            try records.feed(5)
            return false
        }
    }
}

extension [String] {
    /// The identifiers of the records on a watcher's screen.
    var recordIDs: [Int] {
        compactMap { line in
            // A mark, a space, and the identifier at the right of its column.
            guard let mark = line.first, " +*".contains(mark), line.dropFirst().first == " " else { return nil }
            return line.dropFirst().split(separator: " ").first.flatMap { Int($0) }
        }
    }

    /// Whether a record is marked as new.
    var marksARecord: Bool { contains { $0.hasPrefix("+ ") } }
}
