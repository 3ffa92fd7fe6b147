import ImportModel

/// What is known of one source after a look at its beginning.
package struct SourceLook {
    package var description: SourceDescription
    /// The source, already open, if it cannot be opened a second time.
    package let open: SourceStream?
    package let detection: ShapeDetector.Detection
    /// True if the records may be at several record paths of one object.
    package let isOneObject: Bool
    /// True if it is one line with an array of scalars, which may be a row.
    package var isOneRow = false
    /// True if each of its lines is a row.
    package var areRows = false
    /// What is at each record path.
    package var records: [SourceKinds.Records] = []
    /// The keys of that object.
    package var documentKeys: Set<BytewiseString> = []
    /// Per record path the names of its rows' columns, where they are in a header row; empty where there is no row.
    package var headers: [[String]] = []
    /// Where the first row looks like a header row that was not asked for.
    package var rowsLikeHeader: RecordPath?
    /// The wrappers that all values of its records are in, whether they are taken out of them or not; nil for none.
    package var wrapper: SourceForm.Kind?
    /// What is said of its form, and of the kinds of its records.
    package var notices: [MessageText] = []
    /// How else the source could be read, in words.
    package var others: [MessageText] = []

    package init(
        _ description: SourceDescription,
        open: SourceStream?,
        detection: ShapeDetector.Detection,
        isOneObject: Bool
    ) {
        self.description = description
        self.open = open
        self.detection = detection
        self.isOneObject = isOneObject
    }

    /// What is wrong with it from its beginning on; nil for nothing.
    package private(set) var fault: ImportError?

    /// A source of which nothing can be read.
    package init(badly description: SourceDescription, _ fault: ImportError) {
        self.init(description, open: nil, detection: .empty, isOneObject: false)
        self.fault = fault
    }

    /// True if there was nothing to judge by: what is wrong is said when it is read.
    package var hasNothing: Bool {
        if case .found(_, _, let reason) = detection { reason == ShapeDetector.noValue } else { false }
    }

    /// The keys that the records have.
    package var keys: Set<BytewiseString> { records.reduce(into: []) { $0.formUnion($1.keys) } }

    package var paths: [RecordPath] {
        if case .found(_, let paths, _) = detection { paths } else { [] }
    }

    /// True if other sources may tell where its records are: it was found to be one record, or a page without any.
    package var isUnsure: Bool { isOneObject && records.count == 1 && (paths == [.root] || keys.isEmpty) }
}
