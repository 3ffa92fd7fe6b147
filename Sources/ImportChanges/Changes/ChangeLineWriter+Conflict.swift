import ImportEngine
import ImportModel
import ImportSources

extension ChangeLineWriter {
    /// Appends a conflict, without a line break.
    package func append(_ conflict: MergeConflict, to output: inout [UInt8]) {
        let entity = entities[BytewiseString(conflict.entity)] ?? Entity()
        output.append(
            contentsOf: "{\"conflict\":\(conflict.number),\"kind\":\"\(conflict.kind.rawValue)\",\"entityName\":".utf8
        )
        StoredValueWriter.appendString(conflict.entity, to: &output)
        output.append(contentsOf: ",\"identifier\":".utf8)
        append(conflict.identifier, of: entity, to: &output)
        for (key, side) in [("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs)] {
            output.append(contentsOf: ",\"\(key)\":".utf8)
            if let side { append(side, of: entity, to: &output) } else { output.append(contentsOf: "null".utf8) }
        }
        output.append(contentsOf: ",\"take\":".utf8)
        switch conflict.take {
        case nil: output.append(contentsOf: "null".utf8)
        case .base: output.append(contentsOf: "\"base\"".utf8)
        case .ours: output.append(contentsOf: "\"ours\"".utf8)
        case .theirs: output.append(contentsOf: "\"theirs\"".utf8)
        case .values(let values): append(values, of: entity, to: &output)
        }
        appendChanges(of: conflict, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends what the values do not say.
    private func appendChanges(of conflict: MergeConflict, to output: inout [UInt8]) {
        var isFirst = true
        for (key, change, side) in [
            ("base", conflict.toBase, conflict.base), ("theirs", conflict.toTheirs, conflict.theirs),
        ] {
            guard let change, change != conflict.change(to: side) else { continue }
            output.append(contentsOf: "\(isFirst ? ",\"changes\":{" : ",")\"\(key)\":".utf8)
            isFirst = false
            append(change, to: &output)
        }
        if !isFirst { output.append(UInt8(ascii: "}")) }
    }

    private func append(_ properties: [MergeConflict.Property], of entity: Entity, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, property) in properties.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            let name = BytewiseString(property.name)
            StoredValueWriter.appendString(property.name, to: &output)
            output.append(UInt8(ascii: ":"))
            let destination = entity.owned[name] ?? entity.references[name]
            switch property.value {
            case .stored(let value):
                (entity.values[name] ?? StoredValueWriter(nil)).append(value, to: &output)
            case .object(let object):
                append(object, of: destination.flatMap { entities[BytewiseString($0)] } ?? Entity(), to: &output)
            case .objects(let objects): append(objects, of: destination, to: &output)
            case .values(let values): append(values, of: destination, to: &output)
            case .links(let added, let removed):
                append(ReferenceChange.Content.toMany(added: added, removed: removed), to: destination, to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}
