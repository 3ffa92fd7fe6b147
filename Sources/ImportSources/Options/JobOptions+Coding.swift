import ImportModel

/// A model as the store keeps it: the text of a model file.
extension ModelDescription: Codable {
    /// Decodes options, with the model as the text of a model file, which may have mistakes.
    ///
    /// - Throws: `DecodingError` when the options cannot be decoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let model = try? ModelDescription(stored: container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a model")
        }
        self = model
    }

    /// Encodes options as `init(from:)` decodes them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoded())
    }
}

extension ErrorLimit {
    /// True if its number is in its range, which that of a damaged store may not be.
    package var isSound: Bool {
        switch self {
        case .count(let count): count >= 0
        case .percent(let percent): (0...100).contains(percent)
        case .unlimited: true
        }
    }
}

extension JobOptions {
    /// The options that differ from `other`'s; how many rejects there may be is free to change.
    package func differences(from other: JobOptions) -> [MessageText.Setting] {
        var names: [MessageText.Setting] = []
        if model != other.model { names.append(.model) }
        if include != other.include { names.append(.include) }
        if exclude != other.exclude { names.append(.exclude) }
        if encoding != other.encoding { names.append(.encoding) }
        if fileColumn != other.fileColumn { names.append(.fileColumn) }
        if (onBadSource ?? .stop) != (other.onBadSource ?? .stop) { names.append(.onBadSource) }
        if reading != other.reading { names.append(.reading) }
        if headerRow != other.headerRow { names.append(.headerRow) }
        if shape != other.shape { names.append(.shape) }
        if prefix != other.prefix { names.append(.prefix) }
        if parse != other.parse { names.append(.parse) }
        if entityBy != other.entityBy { names.append(.entityBy) }
        if nullTexts != other.nullTexts { names.append(.nullTexts) }
        if detectsTypes != other.detectsTypes { names.append(.detectsTypes) }
        if entity != other.entity { names.append(.entity) }
        if records != other.records { names.append(.records) }
        if identifiers != other.identifiers { names.append(.identifier) }
        if types != other.types || fractions != other.fractions { names.append(.types) }
        if storages != other.storages { names.append(.storages) }
        if client != other.client { names.append(.client) }
        if nested != other.nested { names.append(.nested) }
        if nestedDepth != other.nestedDepth { names.append(.nestedDepth) }
        if nestedOnly != other.nestedOnly { names.append(.nestedOnly) }
        if altersTables != other.altersTables { names.append(.altersTables) }
        if trustsTriggers != other.trustsTriggers { names.append(.trustsTriggers) }
        if onConflict != other.onConflict { names.append(.onConflict) }
        if onError != other.onError { names.append(.onError) }
        if nul != other.nul { names.append(.nul) }
        if isLossless != other.isLossless { names.append(.isLossless) }
        if skip != other.skip { names.append(.skip) }
        if limit != other.limit { names.append(.limit) }
        if maxRecordBytes != other.maxRecordBytes { names.append(.maxRecordBytes) }
        if maxDepth != other.maxDepth { names.append(.maxDepth) }
        if (mirror == nil) != (other.mirror == nil) {
            names.append(.mirror)
        } else if let mirror, let others = other.mirror {
            if mirror.scope != others.scope { names.append(.mirrorScope) }
            if mirror.allowsEmpty != others.allowsEmpty { names.append(.allowsEmpty) }
            if mirror.despiteRejects != others.despiteRejects { names.append(.despiteRejects) }
            if mirror.maxDelete != others.maxDelete { names.append(.maxDelete) }
        }
        return names
    }
}
