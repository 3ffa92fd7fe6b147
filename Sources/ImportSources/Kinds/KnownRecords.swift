import ImportModel

/// What a store, or the other sources of an import, have of an entity's records.
package struct KnownRecords {
    /// Where they are, the likeliest record path first.
    package var paths: [RecordPath] = []
    /// The keys that they have; empty where these are not known.
    package var keys: Set<BytewiseString> = []

    package init() {}

    /// True if records of a kind are where these are, and have mostly their keys.
    package func areLike(_ kind: SourceKinds.Kind) -> Bool {
        paths.contains { $0.description == kind.path } && SourceKinds.areAlike(keys, kind.keys)
    }
}
