/// What the documents of a job are read as.
public enum ShapePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// What they are written as: records.
    case records
    /// Rows, which are arrays, beside the names of their columns.
    case rows
    /// An object of columns: arrays of one length, or objects with the same keys.
    case columns
}
