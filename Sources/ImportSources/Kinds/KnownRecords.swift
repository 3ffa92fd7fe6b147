import ImportModel

/// What a store, or the other sources of an import, have of an entity's records.
package struct KnownRecords: Hashable {
    /// Where they are, the likeliest record path first.
    package var paths: [RecordPath] = []
    /// The keys that they have; empty where these are not known.
    package var keys: Set<BytewiseString> = []
    /// True if these record paths were asked for.
    package var areAsked = false
    /// True if they are merged by an identifier.
    package var haveIdentifier = false

    /// How the sources are read that have them; nil where that is not known.
    package var form: KnownForm?

    package init(form: KnownForm? = nil) { self.form = form }

    /// True if records of a kind are where these are, and have mostly their keys.
    package func areLike(_ kind: SourceKinds.Kind) -> Bool {
        paths.contains { $0.description == kind.path } && SourceKinds.areAlike(keys, kind.keys)
    }
}
