import ImportEngine
import ImportModel
import ImportSources

/// An option that a job was given, for somebody who looks at the job.
package struct JobSetting: Sendable, Hashable {
    /// What the command calls it, with underscores: `on_error`.
    package let name: String
    /// What it was given.
    package let text: String
    /// True if it may have values of records in it.
    package let hasValues: Bool
}

extension StoredJob {
    /// The options that are kept and not at their defaults, and which model it has.
    var settings: [JobSetting] {
        var settings: [JobSetting] = []
        func add(_ name: String, _ text: String?, hasValues: Bool = false) {
            if let text, !text.isEmpty { settings.append(JobSetting(name: name, text: text, hasValues: hasValues)) }
        }
        let given = JobOptions()
        let isImport = retry == nil && change == nil
        add("model", options.model != nil ? "given" : isImport ? "inferred" : nil)
        add("entity", options.entity)
        add("records", options.records.map(\.description).joined(separator: ", "))
        add("identifier", options.identifierNames.joined(separator: ", "))
        let types = options.types.sorted { $0.key < $1.key }
        func fraction(_ name: String) -> String { options.fractions[name].map { "(\($0))" } ?? "" }
        add("type", types.map { "\($0.key):\($0.value.rawValue)\(fraction($0.key))" }.joined(separator: ", "))
        let storages = options.storages.sorted { $0.key < $1.key }
        add("storage", storages.map { "\($0.key):\($0.value.rawValue)" }.joined(separator: ", "))
        add("for", options.client?.rawValue)
        add("nested", options.nested == given.nested ? nil : options.nested.rawValue)
        add("nested_depth", options.nestedDepth == given.nestedDepth ? nil : "\(options.nestedDepth)")
        add("nested_only", options.nestedOnly.map { "\($0)" }.joined(separator: ", "))
        add("alter", options.altersTables ? "yes" : nil)
        add("trust_triggers", options.trustsTriggers ? "yes" : nil)
        add("on_conflict", options.onConflict == given.onConflict ? nil : options.onConflict.rawValue)
        add("on_error", options.onError == given.onError ? nil : options.onError.rawValue)
        add("max_errors", options.maxErrors?.description)
        add("lossless", options.isLossless ? "yes" : nil)
        add("skip", options.skip == given.skip ? nil : "\(options.skip)")
        add("limit", options.limit.map { "\($0)" })
        add(
            "max_record_bytes",
            options.maxRecordBytes == given.maxRecordBytes ? nil : "\(options.maxRecordBytes)"
        )
        add("max_depth", options.maxDepth == given.maxDepth ? nil : "\(options.maxDepth)")
        if let mirror = options.mirror {
            add("mirror", "yes")
            add("mirror_scope", mirror.scope == .imported ? nil : mirror.scope.description, hasValues: true)
            add("allow_empty", mirror.allowsEmpty ? "yes" : nil)
            add("despite_rejects", mirror.despiteRejects ? "yes" : nil)
            add("max_delete", mirror.maxDelete.map { "\($0)" })
        }
        return settings
    }
}
