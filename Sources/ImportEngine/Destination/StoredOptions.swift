import ImportSources

/// What a job's `options` column has: the job's options, and beside them, in the same JSON object, what kind of job it is.
package struct StoredOptions: Codable {
    package let options: JobOptions
    package let takesChunks: Bool
    package let retry: StoredJob.Retry?
    package let change: StoredJob.Change?
    package let keepsUndo: Bool
    package let given: [String]?

    private enum CodingKeys: String, CodingKey {
        case takesChunks, retry, change, keepsUndo, given
    }

    package init(of job: StoredJob) {
        options = job.options
        takesChunks = job.takesChunks
        retry = job.retry
        change = job.change
        keepsUndo = job.keepsUndo
        given = job.given
    }

    package init(from decoder: any Decoder) throws {
        options = try JobOptions(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard (try? options.check()) != nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .takesChunks,
                in: values,
                debugDescription: "options out of range"
            )
        }
        takesChunks = try values.decode(Bool.self, forKey: .takesChunks)
        retry = try values.decodeIfPresent(StoredJob.Retry.self, forKey: .retry)
        change = try values.decodeIfPresent(StoredJob.Change.self, forKey: .change)
        keepsUndo = try values.decodeIfPresent(Bool.self, forKey: .keepsUndo) ?? false
        given = try values.decodeIfPresent([String].self, forKey: .given)
    }

    package func encode(to encoder: any Encoder) throws {
        try options.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(takesChunks, forKey: .takesChunks)
        try values.encodeIfPresent(retry, forKey: .retry)
        try values.encodeIfPresent(change, forKey: .change)
        try values.encodeIfPresent(given, forKey: .given)
        if keepsUndo { try values.encode(true, forKey: .keepsUndo) }
    }
}
