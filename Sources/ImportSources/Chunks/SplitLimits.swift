import ImportModel

/// The job options that decide what a record is, and which of them the splitter passes over.
package struct SplitLimits: Sendable, Hashable {
    /// Larger records are passed over, in bytes of the source, from 1.
    ///
    /// A record of a keyed collection counts with its key.
    package var maxRecordBytes = 64 << 20
    /// Records nested more deeply are passed over, in containers of the record itself, from 1.
    package var maxDepth = 1024
    /// How many records of each record path of a source are left out at its beginning, from 0.
    package var skip: Int64 = 0
    /// How many records of each record path of a source are taken after these at most, from 0; nil for all.
    package var limit: Int64?
    /// How JSON is read as other programs write it.
    package var reading = ReadingPolicy.found

    /// True if the records of each path must be counted.
    package var areCounted: Bool { skip > 0 || limit != nil }

    /// True if a source with `paths` record paths is not read any further once it has given `records` records.
    package func isReached(records: Int64, paths: Int) -> Bool {
        guard let limit else { return false }
        let (wanted, isTooMany) = limit.multipliedReportingOverflow(by: Int64(paths))
        return !isTooMany && records >= wanted
    }
}

extension SplitLimits {
    package init(_ options: JobOptions) {
        self.init(
            maxRecordBytes: options.maxRecordBytes,
            maxDepth: options.maxDepth,
            skip: options.skip,
            limit: options.limit,
            reading: options.reading
        )
    }
}

extension SplitLimits: Codable {
    private enum CodingKeys: String, CodingKey {
        case maxRecordBytes, maxDepth, skip, limit, reading
    }

    /// Reads what a manifest has; it says nothing of records that are left out where there are none.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        maxRecordBytes = try values.decode(Int.self, forKey: .maxRecordBytes)
        maxDepth = try values.decode(Int.self, forKey: .maxDepth)
        skip = try values.decodeIfPresent(Int64.self, forKey: .skip) ?? 0
        limit = try values.decodeIfPresent(Int64.self, forKey: .limit)
        reading = try values.decodeIfPresent(ReadingPolicy.self, forKey: .reading) ?? .found
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(maxRecordBytes, forKey: .maxRecordBytes)
        try values.encode(maxDepth, forKey: .maxDepth)
        if skip > 0 { try values.encode(skip, forKey: .skip) }
        try values.encodeIfPresent(limit, forKey: .limit)
        if reading != .found { try values.encode(reading, forKey: .reading) }
    }
}
