import ImportEngine
import ImportModel
import ImportSources

extension JobOptions {
    /// The options with a model that has the attribute of the source's path.
    package var withFileColumn: JobOptions {
        guard let fileColumn, var model else { return self }
        let destinations = Set(model.entities.flatMap(\.relationships).map(\.destination))
        for index in model.entities.indices {
            let entity = model.entities[index]
            guard !destinations.contains(entity.name), !entity.attributes.contains(where: { $0.name == fileColumn })
            else { continue }
            let level = entity.records?.keyCount ?? 0
            let path = AttributePath.recordKey(outwards: level)
            model.entities[index].attributes.append(
                AttributeDescription(name: fileColumn, type: .string, isOptional: true, from: [path])
            )
        }
        var options = self
        options.model = model
        return options
    }
}
