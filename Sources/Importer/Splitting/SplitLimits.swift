/// The job options that decide which records the splitter passes over.
struct SplitLimits: Sendable, Hashable, Codable {
    /// Larger records are passed over, in bytes of the source, from 1.
    ///
    /// A record of a keyed collection counts with its key.
    var maxRecordBytes: Int
    /// Records nested more deeply are passed over, in containers of the record itself, from 1.
    var maxDepth: Int

    init(maxRecordBytes: Int = 64 << 20, maxDepth: Int = 1024) {
        self.maxRecordBytes = maxRecordBytes
        self.maxDepth = maxDepth
    }
}
