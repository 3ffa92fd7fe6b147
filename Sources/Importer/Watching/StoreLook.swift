/// How far a store's import is, for whoever watches it: everything from one moment.
public struct StoreLook: Sendable, Hashable {
    /// One entity of the store, with what the watched job did to it.
    public struct Entity: Sendable, Hashable {
        /// The entity's name.
        public let name: String
        /// The entity's table.
        public let table: String
        /// What the watched job did; zeros where it is another job's entity.
        public let counts: ImportReport.Counts
        /// How many rows the bookkeeping says the table has.
        public let rowCount: Int64

        /// Puts one together from its parts.
        public init(name: String, table: String, counts: ImportReport.Counts, rowCount: Int64) {
            self.name = name
            self.table = table
            self.counts = counts
            self.rowCount = rowCount
        }
    }

    /// The job's number in the store; nil while the store holds no import.
    public var job: Int64?
    /// Where the job stands.
    public var state = ImportReport.State.running
    /// What stopped the job, where it failed.
    public var message: String?
    /// Whether the job has a model, and so tables.
    public var hasModel = false
    /// The sources, as they were given.
    public var sources: [String] = []
    /// The bytes of all sources, decompressed; nil where that is not known.
    public var totalBytes: Int64?
    /// Bytes of the sources that have been cut into chunks.
    public var splitBytes: Int64 = 0
    /// Records that have been cut into chunks.
    public var splitRecords: Int64 = 0
    /// Bytes of the sources whose records are committed.
    public var bytes: Int64 = 0
    /// Records that are committed, rejects included.
    public var records: Int64 = 0
    /// Records that were not taken.
    public var rejected: Int64 = 0
    /// Time spent in all runs of the job, in seconds.
    public var seconds = 0.0
    /// The job's entities in its order, then those of other jobs.
    public var entities: [Entity] = []
    /// What is wrong with records, the group with the newest reject first.
    public var errors: [ErrorGroup] = []

    /// Nothing yet.
    public init() {}
}

/// A window on a table's rows.
public struct StoreWindow: Sendable, Hashable {
    /// A column to sort by.
    public struct Sort: Sendable, Hashable {
        /// The column's name.
        public var column: String
        /// Whether small values come first.
        public var ascending: Bool

        /// Puts one together from its parts.
        public init(_ column: String, ascending: Bool = true) {
            self.column = column
            self.ascending = ascending
        }
    }

    /// Which rows, and how much of them.
    public struct Request: Sendable, Hashable {
        /// The table's name.
        public var table: String
        /// Columns to sort by, the first one first; without any, the newest row ids come first.
        public var sort: [Sort]
        /// Rows of the sorted whole to pass over.
        public var offset: Int
        /// How many rows.
        public var limit: Int
        /// Columns to pass over.
        public var firstColumn: Int
        /// How many columns.
        public var columnLimit: Int
        /// How many bytes of a text or blob.
        public var byteLimit: Int

        /// Puts one together from its parts.
        public init(
            table: String,
            sort: [Sort] = [],
            offset: Int = 0,
            limit: Int,
            firstColumn: Int = 0,
            columnLimit: Int = 50,
            byteLimit: Int = 400
        ) {
            self.table = table
            self.sort = sort
            self.offset = offset
            self.limit = limit
            self.firstColumn = firstColumn
            self.columnLimit = columnLimit
            self.byteLimit = byteLimit
        }
    }

    /// The beginning of a stored value.
    public enum Value: Sendable, Hashable {
        case null
        case integer(Int64)
        case real(Double)
        /// Bytes of UTF-8, perhaps cut inside of a character.
        case text([UInt8])
        case blob([UInt8])
    }

    /// One row.
    public struct Row: Sendable, Hashable {
        /// The row's id in its table.
        public let rowID: Int64
        /// The values of the columns asked for.
        public let values: [Value]

        /// Puts one together from its parts.
        public init(rowID: Int64, values: [Value]) {
            self.rowID = rowID
            self.values = values
        }
    }

    /// All of the table's columns.
    public let columns: [String]
    /// The rows of the window, sorted.
    public let rows: [Row]

    /// Puts one together from its parts.
    public init(columns: [String], rows: [Row]) {
        self.columns = columns
        self.rows = rows
    }
}
