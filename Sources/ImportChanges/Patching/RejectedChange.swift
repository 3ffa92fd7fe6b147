import ImportEngine
import ImportModel
import ImportSources

/// A change that is rejected, as it is kept to be repaired: its lines, with what is in the way under `conflicts`.
struct RejectedChange {
    /// What is in the way may have this many bytes: conflicts beyond it are left out.
    private static let mostBytes = 16 << 20
    private static let key = "conflicts"

    /// Writes values as change sets have them.
    let writer: ChangeLineWriter

    /// The lines of a change with its conflicts, which replace those of an earlier try.
    ///
    /// - Parameter bytes: its lines. A byte of them that is not about conflicts stays as it is.
    func lines(_ bytes: [UInt8], _ conflicts: [PatchConflict]) -> [UInt8] {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        guard !conflicts.isEmpty, let place = try? place(in: Array(bytes[..<end])) else { return bytes }
        var lines = Array(bytes[..<place.lowerBound])
        if place.isEmpty { lines.append(contentsOf: ",\"\(Self.key)\":".utf8) }
        append(conflicts, to: &lines)
        lines += bytes[place.upperBound...]
        return lines
    }

    /// Where a line has its conflicts; an empty range where it has none yet.
    private func place(in line: [UInt8]) throws -> Range<Int> {
        try line.withUnsafeBufferPointer { bytes throws(ChangeSetScanner.LineError) in
            var json = try ChangeSetScanner(ByteView(bytes))
            try json.openObject()
            var found: Range<Int>?
            while let name = try json.key() {
                let range = try json.skip()
                if name.hasSameBytes(as: Self.key) { found = range }
            }
            // An object has at least the name of its entity, so that a comma may follow.
            return found ?? json.index - 1..<json.index - 1
        }
    }

    private func append(_ conflicts: [PatchConflict], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        let start = output.count
        for conflict in conflicts.prefix(PatchConflict.mostListed) {
            let before = output.count
            if before > start { output.append(UInt8(ascii: ",")) }
            writer.append(conflict, to: &output)
            guard output.count - start > Self.mostBytes else { continue }
            output.removeSubrange(before...)
            break
        }
        output.append(UInt8(ascii: "]"))
    }
}

extension ChangeLineWriter {
    /// Appends what is in the way of a change.
    fileprivate func append(_ conflict: PatchConflict, to output: inout [UInt8]) {
        let entity = entities[BytewiseString(conflict.entity)] ?? Entity()
        output.append(contentsOf: "{\"entity\":".utf8)
        StoredValueWriter.appendString(conflict.entity, to: &output)
        output.append(contentsOf: ",\"identifier\":".utf8)
        append(conflict.identifier, of: entity, to: &output)
        output.append(contentsOf: ",\"kind\":\"\(conflict.kind.rawValue)\"".utf8)
        let name = conflict.attribute.map(BytewiseString.init)
        if let attribute = conflict.attribute {
            output.append(contentsOf: ",\"attribute\":".utf8)
            StoredValueWriter.appendString(attribute, to: &output)
        }
        let sides = [("old", conflict.old), ("new", conflict.new), ("stored", conflict.stored)]
        for (key, value) in sides {
            guard let value else { continue }
            output.append(contentsOf: ",\"\(key)\":".utf8)
            switch value {
            case .stored(let value):
                (name.flatMap { entity.values[$0] } ?? StoredValueWriter(nil)).append(value, to: &output)
            case .object(let object):
                let destination = name.flatMap { entity.references[$0] ?? entity.owned[$0] }
                append(object, of: destination.flatMap { entities[BytewiseString($0)] } ?? Entity(), to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}
