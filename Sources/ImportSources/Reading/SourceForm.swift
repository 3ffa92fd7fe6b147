import ImportModel

/// How a source's text is rewritten to JSON with its records where they are looked for: tables that are not written as records,
/// text around JSON, values in wrappers.
///
/// It is found by a look at the source's beginning, and kept with it: all that reads the source reads the rewritten text, and
/// byte offsets count there.
package struct SourceForm: Sendable, Hashable, Codable {
    package enum Kind: String, Sendable, Hashable, Codable {
        /// Rows, which are arrays, beside the names of their columns.
        case rows
        /// An object of columns.
        case columns
        /// Lines with text before their object.
        case prefix
        /// Server-sent events.
        case events
        /// Text before, between and after values.
        case notes
        /// DynamoDB's typed values.
        case dynamoDB
        /// Values that are in an array of their own each, as of jsonlite.
        case boxes
        /// Texts of records that are JSON.
        case parse
        /// Records of several kinds, each a list of its own.
        case kinds
        /// Elasticsearch's bulk lines.
        case bulk
        /// Folders that are called `NAME=VALUE`, whose values each record has.
        case folders
    }

    package let kind: Kind
    /// Where the values are that are rewritten; nil for lines of text.
    package var path: String?
    /// The names of the rows' columns, or of the parts of a prefix; the key paths of texts; names and values, as JSON, of folders.
    package var names: [String]?
    /// What the values of the array `index` beside rows are called in them; nil where it says nothing.
    package var index: String?
    /// The kinds of records that there are; nil while they are being found.
    package var values: [String]?
    /// True if no value goes on over a line's end.
    package var isOfLines = false
    /// The forms that its text is rewritten to after that.
    package var others: [SourceForm]?
    /// True if each value becomes an array of its own, so that text is outside of the records.
    package var wraps = false
    /// True if text outside of values is left out, and not kept as texts.
    package var dropsText = false
    /// The key of the array `index`.
    static let indexKey = "index"
    /// The length of a value in bytes of which no more is held.
    package var maxBytes: Int

    package init(_ kind: Kind, path: RecordPath? = nil, names: [String]? = nil, maxBytes: Int) {
        self.kind = kind
        self.path = path?.description
        self.names = names
        self.maxBytes = maxBytes
    }

    /// The form with another one after it.
    package func then(_ other: SourceForm) -> SourceForm {
        var form = self
        form.others = (others ?? []) + [other]
        return form
    }

    /// All that its text is rewritten to, in order.
    package var kinds: [Kind] { [kind] + (others ?? []).map(\.kind) }

    /// The kinds of records that were found; nil where they are not looked for.
    package var foundKinds: [String]? { values ?? others?.lazy.compactMap(\.values).first }

    /// True if its records come to be in lists of kinds.
    package var makesLists: Bool { kinds.contains(.kinds) || kinds.contains(.bulk) }

    /// The text of a source's beginning, rewritten.
    package func rewritten(_ text: [UInt8]) -> [UInt8] {
        var (rewriter, output) = (self.rewriter, [UInt8]())
        rewriter.add(text[...], to: &output)
        rewriter.finish(to: &output)
        return output
    }

    /// What rewrites text of this form.
    var rewriter: any TextRewriter {
        switch kind {
        case .prefix: PrefixRewriter(names: names, maxBytes: maxBytes)
        case .events: EventRewriter(wraps: wraps, dropsText: dropsText, maxBytes: maxBytes)
        case .notes: NoteRewriter(wraps: wraps, dropsText: dropsText)
        case .rows, .columns, .dynamoDB, .boxes, .parse, .folders, .kinds: ValueRewriter(self)
        case .bulk: BulkRewriter(self)
        }
    }
}

/// Rewrites a text that comes in pieces.
protocol TextRewriter {
    /// Takes what comes next, and appends what it becomes.
    mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8])
    /// Appends more of what was taken, a piece at a time; false where there is none.
    mutating func pull(to output: inout [UInt8]) -> Bool
    /// Appends what is left at the end.
    mutating func finish(to output: inout [UInt8])
    /// Why the text cannot be rewritten; nil where it can.
    var problem: FormProblem? { get }
    /// The kinds of records that were found, in their order.
    var kinds: [String] { get }
}

/// Names, each once, in the order in which they first appear.
struct KindList {
    private(set) var names: [String] = []
    private var known: Set<[UInt8]> = []

    mutating func add(_ name: String) {
        if known.insert(Array(name.utf8)).inserted { names.append(name) }
    }
}

/// Why columns cannot be read as rows.
enum FormProblem {
    case tooLong
    case unequal
}

extension TextRewriter {
    mutating func pull(to output: inout [UInt8]) -> Bool { false }
    var problem: FormProblem? { nil }
    var kinds: [String] { [] }
}

/// A stream's bytes, rewritten.
final class RewrittenStream: ByteStream {
    private let base: any ByteStream
    private let name: String
    private var rewriter: any TextRewriter
    private var input = [UInt8](repeating: 0, count: 256 << 10)
    private var output: [UInt8] = []
    private var taken = 0
    private var isAtEnd = false

    init(_ base: any ByteStream, as form: SourceForm, name: String) {
        self.base = base
        self.name = name
        rewriter = form.rewriter
    }

    func read(into block: inout [UInt8]) throws -> Int {
        while taken == output.count {
            output.removeAll(keepingCapacity: true)
            taken = 0
            if rewriter.pull(to: &output) { continue }
            if isAtEnd { return 0 }
            let count = try base.read(into: &input)
            isAtEnd = count == 0
            if isAtEnd { rewriter.finish(to: &output) } else { rewriter.add(input[..<count], to: &output) }
            if let problem = rewriter.problem { throw error(problem) }
        }
        let count = block.overwrite(with: output[taken...])
        taken += count
        return count
    }

    private func error(_ problem: FormProblem) -> ImportError {
        switch problem {
        case .tooLong:
            ImportError(
                .optionsConflict,
                at: name,
                "its columns are longer than a record may be, and are turned into rows in memory",
                advice: "Raise \(.maxRecordBytes), or read it as it is written with \(.shape, "records")."
            )
        case .unequal:
            ImportError(
                .notJSON,
                at: name,
                "its columns do not all have the same rows",
                advice: "Read it as it is written with \(.shape, "records")."
            )
        }
    }
}

extension SourceForm.Kind {
    /// How the ledger counts a source of this form.
    package var ledgerKind: LedgerKind {
        switch self {
        case .dynamoDB: .unwrapped
        case .boxes: .unboxed
        case .rows, .columns, .prefix, .events, .notes, .parse, .folders, .kinds, .bulk: .reshaped
        }
    }
}
