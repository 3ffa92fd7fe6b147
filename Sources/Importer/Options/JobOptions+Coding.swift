import ImportModel

/// The options as the store keeps them: the model as the text of a model file, record paths as texts.
extension JobOptions: Codable {
    private enum CodingKeys: String, CodingKey {
        case model, entity, records, identifier, types, nested, nestedDepth, nestedOnly, onConflict, onError, nul,
            maxErrors
        case isLossless, skip, limit, maxRecordBytes, maxDepth, mirror
    }

    /// Reads what a store has; one of format 1 lacks the options that came later.
    ///
    /// - Throws: `DecodingError` when something is missing or is nothing that an option can be.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func damage(_ key: CodingKeys, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: values, debugDescription: text)
        }
        self.init()
        if let text = try values.decodeIfPresent(String.self, forKey: .model) {
            guard let model = try? ModelDescription(stored: Array(text.utf8)) else {
                throw damage(.model, "not a model")
            }
            self.model = model
        }
        entity = try values.decodeIfPresent(String.self, forKey: .entity)
        records = try values.decode([String].self, forKey: .records).map { text in
            guard let path = try? RecordPath(text) else { throw damage(.records, "not a record path") }
            return path
        }
        identifier = try values.decodeIfPresent([String].self, forKey: .identifier) ?? []
        types = try values.decodeIfPresent([String: AttributeType].self, forKey: .types) ?? [:]
        nested = try values.decodeIfPresent(NestedPolicy.self, forKey: .nested) ?? .flatten
        nestedDepth = try values.decodeIfPresent(Int.self, forKey: .nestedDepth) ?? nestedDepth
        nestedOnly = try values.decodeIfPresent([AttributePath].self, forKey: .nestedOnly) ?? []
        onConflict = try values.decodeIfPresent(ConflictPolicy.self, forKey: .onConflict) ?? .merge
        onError = try values.decodeIfPresent(ErrorPolicy.self, forKey: .onError) ?? .reject
        nul = try values.decodeIfPresent(NULPolicy.self, forKey: .nul) ?? .error
        maxErrors = try values.decodeIfPresent(ErrorLimit.self, forKey: .maxErrors)
        isLossless = try values.decodeIfPresent(Bool.self, forKey: .isLossless) ?? false
        skip = try values.decodeIfPresent(Int64.self, forKey: .skip) ?? 0
        limit = try values.decodeIfPresent(Int64.self, forKey: .limit)
        maxRecordBytes = try values.decode(Int.self, forKey: .maxRecordBytes)
        maxDepth = try values.decode(Int.self, forKey: .maxDepth)
        mirror = try values.decodeIfPresent(MirrorOptions.self, forKey: .mirror)
        guard (try? check()) != nil else { throw damage(.skip, "out of range") }
    }

    /// Writes what `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(model?.encoded(), forKey: .model)
        try values.encodeIfPresent(entity, forKey: .entity)
        try values.encode(records.map(\.description), forKey: .records)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(types, forKey: .types)
        try values.encode(nested, forKey: .nested)
        try values.encode(nestedDepth, forKey: .nestedDepth)
        try values.encode(nestedOnly, forKey: .nestedOnly)
        try values.encode(onConflict, forKey: .onConflict)
        try values.encode(onError, forKey: .onError)
        // Only a server's job has another one.
        if nul != .error { try values.encode(nul, forKey: .nul) }
        try values.encodeIfPresent(maxErrors, forKey: .maxErrors)
        try values.encode(isLossless, forKey: .isLossless)
        try values.encode(skip, forKey: .skip)
        try values.encodeIfPresent(limit, forKey: .limit)
        try values.encode(maxRecordBytes, forKey: .maxRecordBytes)
        try values.encode(maxDepth, forKey: .maxDepth)
        try values.encodeIfPresent(mirror, forKey: .mirror)
    }
}

extension ErrorLimit {
    /// Whether its number is in its range, which that of a damaged store may not be.
    var isSound: Bool {
        switch self {
        case .count(let count): count >= 0
        case .percent(let percent): (0...100).contains(percent)
        case .unlimited: true
        }
    }
}

extension JobOptions {
    /// The options that differ from `other`'s; how many rejects there may be is free to change.
    func differences(from other: JobOptions) -> [ImportText.Setting] {
        var names: [ImportText.Setting] = []
        if model != other.model { names.append(.model) }
        if entity != other.entity { names.append(.entity) }
        if records != other.records { names.append(.records) }
        if identifier != other.identifier { names.append(.identifier) }
        if types != other.types { names.append(.types) }
        if nested != other.nested { names.append(.nested) }
        if nestedDepth != other.nestedDepth { names.append(.nestedDepth) }
        if nestedOnly != other.nestedOnly { names.append(.nestedOnly) }
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
