import ImportModel

/// Sources of one kind are read in one form: what one of them leaves open, the others tell.
package enum FormAgreement {
    /// Reads sources again whose form is not that of the others of their kind.
    ///
    /// - Parameters:
    ///   - groups: the indexes of the sources of each kind.
    ///   - look: looks at a source again, which is read in this form if it can be.
    package static func settle(
        _ looks: inout [SourceLook],
        _ groups: [[Int]],
        _ look: (SourceLook, KnownForm) throws -> SourceLook
    ) throws {
        for sources in groups where sources.count > 1 {
            let judged = sources.filter { !looks[$0].keys.isEmpty }
            func read(_ sources: [Int], as form: SourceForm.Kind?) throws {
                // What can be read once is read on as it was begun.
                for source in sources
                where looks[source].valueForm != form && (looks[source].open == nil || form != nil) {
                    looks[source] = try look(looks[source], KnownForm(form))
                }
            }
            if judged.contains(where: { looks[$0].valueForm == .dynamoDB }) {
                try read(judged.filter { looks[$0].wrapper == .dynamoDB }, as: .dynamoDB)
            } else if judged.count > 1, judged.contains(where: { looks[$0].wrapper == .boxes }) {
                try read(judged, as: judged.allSatisfy { looks[$0].wrapper == .boxes } ? .boxes : nil)
            }
        }
    }

    /// Reads short documents as the longer ones of other sources are read: few columns, descriptions of rows, one object by key, one row.
    package static func settleShort(
        _ looks: inout [SourceLook],
        _ look: (SourceLook, KnownRecords) throws -> SourceLook
    ) throws {
        if looks.contains(where: \.areRows) {
            var known = KnownRecords()
            (known.paths, known.keys) = ([.root], [BytewiseString(RowColumns.name(0))])
            for source in looks.indices where looks[source].isOneRow { looks[source] = try look(looks[source], known) }
        }
        let first = looks.first {
            [.columns, .rows].contains($0.description.form?.kind) || $0.paths.first?.steps == [.anyMember]
        }
        guard let first else { return }
        var known = KnownRecords()
        known.form = first.description.form.map { KnownForm($0.kind) }
        if known.form?.kind != .columns { (known.paths, known.keys) = (first.paths, first.keys) }
        for source in looks.indices where looks[source].isOneObject && looks[source].paths != first.paths {
            let again = try look(looks[source], known)
            let isForm = known.form?.kind != .columns || again.description.form?.kind == .columns
            if isForm, again.paths == first.paths, again.keys.isEmpty || SourceKinds.areAlike(again.keys, first.keys) {
                looks[source] = again
            }
        }
    }
}

extension SourceLook {
    /// The wrappers that values are taken out of; nil for none.
    package var valueForm: SourceForm.Kind? {
        ([description.form?.kind] + (description.form?.others ?? []).map(\.kind)).compactMap(\.self)
            .first { $0 == .boxes || $0 == .dynamoDB }
    }
}
