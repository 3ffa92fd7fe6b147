import Foundation
import ImportModel

/// An entity made ready for decoding: its attributes' paths as one tree of keys, so that a record is walked once.
///
/// Each distinct path is a slot; an attribute reads the first of its slots that the record fills.
final class EntityPlan {
    /// A key on the way to a slot.
    ///
    /// Nodes are in depth-first order, so that a node's descendants are a range.
    struct Node {
        /// The node's slot; -1 where it only leads further.
        var slot: Int32 = -1
        /// Just past its last descendant.
        var subtreeEnd: Int32 = 0
        /// Its children's indices, in the order of the model.
        var children: [Int32] = []
        /// Its place among its parent's children.
        var place: Int32 = 0
        /// Where its key's bytes stand.
        var keyOffset: Int32 = 0
        var keyLength: Int32 = 0
        /// Open addressing by the key's hash, for objects with many keys: child index + 1, 0 for none.
        var table: [Int32] = []
        /// The path in words, for errors and the ledger.
        var path = ""
    }

    let entity: EntityDescription
    /// The entity's place in the job.
    let index: Int32
    let nodes: [Node]
    let slotCount: Int
    /// The slots of each attribute, in the order in which they are tried.
    let slots: [[Int]]
    /// The slot of each attribute that is tried first, and whether there are more.
    let firstSlots: [Int]
    let hasMoreSlots: [Bool]
    /// The attributes' types, and whether they may be null.
    let types: [AttributeType]
    let optional: [Bool]
    /// The attributes' coercions, and whether the type alone says it all.
    let coercions: [AttributeCoercion]
    let isPlain: [Bool]
    /// The path of each slot, in words.
    let slotPaths: [String]
    /// The slot of the record itself (`$`), of its key (`$key`); -1 where no attribute reads them.
    let recordSlot: Int
    let recordKeySlot: Int
    /// Per attribute what an inserted object gets when its record does not mention it.
    ///
    /// Texts stand in `defaultBytes`.
    let defaults: [Cell]
    let defaultBytes: [UInt8]
    /// Attributes that an inserted object must have: not optional, without a default, and not made by the import.
    let required: [Bool]
    /// Attributes that an inserted object gets a UUID for if its record has no value.
    let generated: [Bool]
    /// Whether there is any.
    let hasGenerated: Bool
    /// Whether merging rows later needs to know what their records mention.
    let needsPresence: Bool
    /// Which attributes are part of the identifier.
    let identifier: [Int]
    /// What a record does whose object is there already.
    let onConflict: ConflictPolicy
    /// Which attributes a record sets on insert only.
    let isLocal: [Bool]
    /// Whether rows may turn out to be rejects when they are written, so that their records' places are kept.
    var keepsPlaces = false
    private let keyBytes: [UInt8]

    /// - Parameter transformers: those that the entity may name.
    /// - Throws: `ImportError` when a default does not fit its attribute, or an attribute's options do not go together,
    ///   which a checked model never has, but one whose transformers are not there.
    init(
        entity: EntityDescription,
        index: Int,
        onConflict: ConflictPolicy = .merge,
        transformers: TransformerRegistry = .standard
    ) throws {
        self.entity = entity
        self.onConflict = onConflict
        isLocal = entity.attributes.map { $0.owner == .local }
        self.index = Int32(index)
        identifier = entity.identifier.compactMap { name in entity.attributes.firstIndex { $0.name == name } }
        var tree = KeyTree()
        var slotOf: [ExactText: Int] = [:]
        var slotPaths: [String] = []
        slots = entity.attributes.map { attribute in
            attribute.from.map { path in
                let text = path.description
                if let slot = slotOf[ExactText(text)] { return slot }
                let slot = slotPaths.count
                slotOf[ExactText(text)] = slot
                slotPaths.append(text)
                if !path.isRecordKey, !path.keys.isEmpty { tree.insert(path.keys[...], slot: slot) }
                return slot
            }
        }
        firstSlots = slots.map { $0.first ?? 0 }
        hasMoreSlots = slots.map { $0.count > 1 }
        types = entity.attributes.map(\.type)
        optional = entity.attributes.map(\.isOptional)
        coercions = try entity.attributes.map { try Self.coercion(of: $0, in: entity, transformers) }
        isPlain = coercions.map(\.isPlain)
        self.slotPaths = slotPaths
        slotCount = slotPaths.count
        recordSlot = slotOf[ExactText(AttributePath.record.description)] ?? -1
        recordKeySlot = slotOf[ExactText(AttributePath.recordKey.description)] ?? -1
        required = entity.attributes.map { !$0.isOptional && $0.defaultValue == nil && !$0.isGenerated }
        generated = entity.attributes.map(\.isGenerated)
        hasGenerated = generated.contains(true)
        needsPresence = onConflict == .merge || onConflict == .replace && hasGenerated
        var defaultBytes: [UInt8] = []
        defaults = try entity.attributes.map { try Self.defaultCell(of: $0, in: entity, transformers, &defaultBytes) }
        self.defaultBytes = defaultBytes
        var nodes = [Node()]
        var keyBytes: [UInt8] = []
        tree.flatten(into: 0, path: [], &nodes, &keyBytes)
        for node in nodes.indices { nodes[node].table = Self.table(of: nodes[node].children, nodes, keyBytes) }
        self.nodes = nodes
        self.keyBytes = keyBytes
    }

    private static func coercion(
        of attribute: AttributeDescription,
        in entity: EntityDescription,
        _ transformers: TransformerRegistry
    ) throws -> AttributeCoercion {
        do throws(AttributeMistakes) {
            return try AttributeCoercion(attribute, transformers: transformers)
        } catch {
            throw ImportError(
                .badInput,
                "\(entity.name).\(attribute.name): \(error)",
                advice: "importer model check FILE names all mistakes of a model file."
            )
        }
    }

    private static func defaultCell(
        of attribute: AttributeDescription,
        in entity: EntityDescription,
        _ transformers: TransformerRegistry,
        _ bytes: inout [UInt8]
    ) throws -> Cell {
        guard let value = attribute.defaultValue else { return .null }
        do {
            switch try attribute.coerce(value, transformers: transformers).value {
            case .null: return .null
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .text(let text):
                let offset = bytes.count
                bytes += text.utf8
                return .text(.batchText, offset: offset, length: bytes.count - offset)
            case .blob(let blob):
                let offset = bytes.count
                bytes += blob
                return .text(.batchBlob, offset: offset, length: blob.count)
            }
        } catch {
            throw ImportError(
                .badInput,
                "\(entity.name).\(attribute.name): the default does not fit \(error.expected)",
                advice: "Give a default that fits the attribute's type."
            )
        }
    }

    // MARK: The tree of keys

    private struct KeyTree {
        var slot = -1
        var keys: [String] = []
        var children: [ExactText: KeyTree] = [:]

        mutating func insert(_ path: ArraySlice<String>, slot: Int) {
            guard let key = path.first else {
                self.slot = slot
                return
            }
            let exact = ExactText(key)
            if children[exact] == nil { keys.append(key) }
            children[exact, default: KeyTree()].insert(path.dropFirst(), slot: slot)
        }

        func flatten(into node: Int, path: [String], _ nodes: inout [Node], _ keyBytes: inout [UInt8]) {
            nodes[node].slot = Int32(slot)
            nodes[node].path = AttributePath(keys: path).description
            for (place, key) in keys.enumerated() {
                guard let child = children[ExactText(key)] else { continue }
                let index = nodes.count
                var new = Node()
                new.place = Int32(place)
                new.keyOffset = Int32(keyBytes.count)
                new.keyLength = Int32(key.utf8.count)
                keyBytes += key.utf8
                nodes.append(new)
                nodes[node].children.append(Int32(index))
                child.flatten(into: index, path: path + [key], &nodes, &keyBytes)
            }
            nodes[node].subtreeEnd = Int32(nodes.count)
        }
    }

    private static func table(of children: [Int32], _ nodes: [Node], _ keyBytes: [UInt8]) -> [Int32] {
        guard !children.isEmpty else { return [] }
        var size = 4
        while size < children.count * 2 { size *= 2 }
        var table = [Int32](repeating: 0, count: size)
        for child in children {
            let key = nodes[Int(child)]
            let range = Int(key.keyOffset)..<Int(key.keyOffset + key.keyLength)
            var place = keyBytes.withUnsafeBufferPointer { hash(ByteView($0)[range]) } & (size - 1)
            while table[place] != 0 { place = (place + 1) & (size - 1) }
            table[place] = child + 1
        }
        return table
    }

    private static func hash(_ key: ByteView) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in 0..<key.count {
            hash = (hash ^ UInt64(key[index])) &* 0x0000_0100_0000_01b3
        }
        return Int(truncatingIfNeeded: hash ^ (hash >> 29))
    }

    @inline(__always)
    private func matches(_ node: Int32, _ key: ByteView) -> Bool {
        let length = Int(nodes[Int(node)].keyLength)
        guard length == key.count else { return false }
        let offset = Int(nodes[Int(node)].keyOffset)
        return keyBytes.withUnsafeBufferPointer { bytes in
            length == 0 || memcmp(bytes.baseAddress! + offset, key.base, length) == 0
        }
    }

    /// The child of `node` with this key, or -1.
    ///
    /// - Parameter guess: the place among the children where it is looked for first; moved past the child found, as
    ///   records of a kind have their keys in the same order.
    @inline(__always)
    func child(of node: Int32, key: ByteView, guess: inout Int) -> Int32 {
        let count = nodes[Int(node)].children.count
        if guess < count {
            let candidate = nodes[Int(node)].children[guess]
            if matches(candidate, key) {
                guess += 1
                return candidate
            }
        }
        let found = lookUp(node, key)
        if found >= 0 { guess = Int(nodes[Int(found)].place) + 1 }
        return found
    }

    private func lookUp(_ node: Int32, _ key: ByteView) -> Int32 {
        let size = nodes[Int(node)].table.count
        guard size > 0 else { return -1 }
        var place = Self.hash(key) & (size - 1)
        while true {
            let entry = nodes[Int(node)].table[place]
            if entry == 0 { return -1 }
            if matches(entry - 1, key) { return entry - 1 }
            place = (place + 1) & (size - 1)
        }
    }
}
