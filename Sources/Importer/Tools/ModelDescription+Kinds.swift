import ImportEngine
import ImportModel
import ImportSources

/// Models of records whose entities are told by a key.
extension ModelDescription {
    /// The same with an abstract entity that tells the others by that key, so that the model alone imports the sources; where some
    /// records are told otherwise, the same, and what is to be given besides.
    func tellingKinds(of sources: [StoredJob.Source], by keys: [AttributePath], _ records: RecordPath?) -> (
        model: ModelDescription, notice: MessageText?
    ) {
        let forms = sources.compactMap { source in
            ([source.description.form] + (source.description.form?.others ?? [])).compactMap(\.self)
                .first { $0.kind == .kinds }
        }
        guard !forms.isEmpty, !keys.isEmpty else { return (self, nil) }
        let given = keys.map(\.description).joined(separator: ",")
        let notice: MessageText = "an import with this model takes \(.entityBy, given), too"
        let kinds = Set(forms.flatMap { $0.values ?? [] })
        guard keys.count == 1, forms.count == sources.count, !kinds.contains(ValueChange.otherKind),
            let path = forms[0].path, Set(forms.map(\.path)).count == 1
        else { return (self, notice) }
        var model = self
        var name = "record"
        while entities.contains(where: { $0.name.asciiLowercased == name }) { name += "_2" }
        var values: [SubentityDescription.Value] = []
        for index in model.entities.indices {
            guard let path = model.entities[index].records else { continue }
            guard case .key(let kind)? = path.steps.dropLast().last, kinds.contains(kind) else { return (self, notice) }
            values.append(SubentityDescription.Value(kind, entity: model.entities[index].name))
            model.entities[index].records = nil
            model.entities[index].parent = name
        }
        let root = EntityDescription(
            name: name,
            records: try? records ?? RecordPath(path),
            attributes: [],
            isAbstract: true,
            subentity: SubentityDescription(from: keys, values: values)
        )
        model.entities.insert(root, at: 0)
        return values.count == kinds.count && (try? model.check()) != nil ? (model, nil) : (self, notice)
    }
}
