import ImportModel
import ImportSources

/// An entity made ready for decoding.
///
/// Each distinct path is a slot; an attribute reads the first of its slots that the record fills.
package final class EntityPlan {
    /// The types whose values mostly need no more than a look.
    package enum Shortcut {
        case none
        case string
        case uuid
        case integer16
        case integer32
        case integer64
        case double
        case boolean

        package init(_ type: AttributeType) {
            switch type {
            case .string: self = .string
            case .uuid: self = .uuid
            case .integer16: self = .integer16
            case .integer32: self = .integer32
            case .integer64: self = .integer64
            case .double: self = .double
            case .boolean: self = .boolean
            case .date, .decimal, .float, .uri, .binary, .bitfield, .json: self = .none
            }
        }
    }

    /// An attribute as decoding sees it.
    package struct Attribute {
        /// The slot that is tried first, and whether there are more.
        package let firstSlot: Int32
        package let hasMoreSlots: Bool
        package let type: AttributeType
        /// True if the type alone says how it is coerced.
        package let isPlain: Bool
        package let shortcut: Shortcut
        package let isOptional: Bool
        /// True if an inserted object gets a UUID for it if its record has no value.
        package let isGenerated: Bool
        /// True if an inserted object must have it: not optional, without a default, and not made by the import.
        package let isRequired: Bool

        fileprivate init(_ attribute: AttributeDescription, slots: [Int], _ coercion: AttributeCoercion) {
            firstSlot = Int32(slots.first ?? 0)
            hasMoreSlots = slots.count > 1
            type = attribute.type
            isPlain = coercion.isPlain
            shortcut = isPlain || coercion.keepsTexts ? Shortcut(attribute.type) : .none
            isOptional = attribute.isOptional
            isGenerated = attribute.isGenerated
            isRequired = !attribute.isOptional && attribute.defaultValue == nil && !attribute.isGenerated
        }
    }

    package let entity: EntityDescription
    /// The entity's index in the job.
    package let index: Int32
    /// The keys that lead to the slots.
    let trie: KeyPathTrie
    package let slotCount: Int
    /// Per column of rows without a header row, the node that reads it, or -1; none where the entity reads no rows.
    let columnNodes: [Int]
    /// The slots of each attribute, in the order in which they are tried.
    package let slots: [[Int]]
    /// What decoding asks of each attribute, for every record.
    ///
    /// In memory of its own, which lives as long as the plan.
    package let attributes: UnsafeBufferPointer<Attribute>
    /// The attributes' coercions.
    package let coercions: [AttributeCoercion]
    /// The path of each slot, in words.
    package let slotPaths: [String]
    /// The slot of the record itself (`$`), of its key (`$key`); -1 where no attribute reads them.
    package let recordSlot: Int
    package let recordKeySlot: Int
    /// The slots of keys that are further out, and how far (`$key[1]`).
    let outerKeySlots: [(slot: Int, level: Int)]
    /// Per attribute what an inserted object gets when its record does not mention it.
    ///
    /// Texts are in `defaultBytes`.
    package let defaults: [Cell]
    package let defaultBytes: [UInt8]
    /// True if some attribute is generated.
    package let hasGenerated: Bool
    /// True if merging rows later needs to know what their records mention.
    package let needsPresence: Bool
    /// Which attributes are part of the identifier.
    package let identifier: [Int]
    /// What a record does whose object is there already.
    package let onConflict: ConflictPolicy
    /// The slot of an element that is no object (`@value`), and of its index in its list (`@index`); -1 where no attribute
    /// reads them.
    package let elementSlot: Int
    package let indexSlot: Int
    /// The slots of attributes of the object around (`@parent.name`), with their names.
    package let parentSlots: [(slot: Int, attribute: String)]
    /// Attributes that are a reference, and the one that is the row's index in the list of what it refers to.
    package var positions: [(reference: Range<Int>, position: Int)] = []
    /// Attributes that say in whose lists a row is that has no identifier, and where.
    package var parentColumns: Set<Int> = []
    /// How many of the attributes a record sets that replaces an object, whether it mentions them or not.
    package let replacedCount: Int
    /// Per path beside the attributes' the slot that it fills.
    package let otherSlots: [Int]
    /// Which attributes a record sets on insert only.
    package let isLocal: [Bool]
    /// True if rows may turn out to be rejects when they are written, so that their records' positions are kept.
    package var keepsPlaces = false
    /// True if a record that lacks what a new object must have waits until all are in: it has no row before that.
    package var keepsIncomplete = false
    /// True if rows are laid out as they are decoded, since nothing has to be asked about them when they are written.
    package var laysOutRows = false

    /// True if an attribute or a relationship has the key of a record at a level, counted outwards.
    package func readsKey(_ level: Int) -> Bool {
        level == 0 ? recordKeySlot >= 0 : outerKeySlots.contains { $0.level == level }
    }

    /// - Parameters:
    ///   - unread: attributes of the table that the entity does not have: no record mentions them.
    ///   - replaced: how many of the attributes a record sets that replaces an object; nil for all.
    ///   - otherPaths: key paths that something else than an attribute reads.
    /// - Throws: `ImportError` when a default does not fit its attribute, or an attribute's options do not go together,
    ///   which a checked model never has, but one whose transformers are not there.
    package init(
        entity: EntityDescription,
        index: Int,
        onConflict: ConflictPolicy = .merge,
        unread: [AttributeDescription] = [],
        replaced: Int? = nil,
        otherPaths: [AttributePath] = [],
        transformers: TransformerRegistry = .standard
    ) throws {
        var entity = entity
        let readCount = entity.attributes.count
        entity.attributes += unread
        self.entity = entity
        replacedCount = replaced ?? entity.attributes.count
        self.onConflict = onConflict
        isLocal = entity.attributes.map { $0.owner == .local }
        self.index = Int32(index)
        identifier = entity.identifier.compactMap { name in entity.attributes.firstIndex { $0.name == name } }
        var keys: [(keys: [String], slot: Int)] = []
        var slotOf: [BytewiseString: Int] = [:]
        var slotPaths: [String] = []
        func slot(of path: AttributePath) -> Int {
            let text = path.description
            if let slot = slotOf[BytewiseString(text)] { return slot }
            let slot = slotPaths.count
            slotOf[BytewiseString(text)] = slot
            slotPaths.append(text)
            if !path.keys.isEmpty { keys.append((path.keys, slot)) }
            return slot
        }
        var slots = entity.attributes.prefix(readCount).map { $0.from.map(slot(of:)) }
        let paths = entity.attributes.prefix(readCount).flatMap(\.from)
        otherSlots = otherPaths.map(slot(of:))
        if !unread.isEmpty || slots.contains(where: \.isEmpty) {
            // A slot that no record fills.
            let unfilled = [slotPaths.count]
            slots = slots.map { $0.isEmpty ? unfilled : $0 } + unread.map { _ in unfilled }
            slotPaths.append("")
        }
        self.slots = slots
        coercions = try entity.attributes.map { try Self.coercion(of: $0, in: entity, transformers) }
        self.slotPaths = slotPaths
        slotCount = slotPaths.count
        recordSlot = slotOf[BytewiseString(AttributePath.record.description)] ?? -1
        recordKeySlot = slotOf[BytewiseString(AttributePath.recordKey.description)] ?? -1
        outerKeySlots = Set(paths).compactMap { path in
            path.keyLevel.flatMap { level in
                level == 0 ? nil : slotOf[BytewiseString(path.description)].map { (slot: $0, level: level) }
            }
        }
        elementSlot = slotOf[BytewiseString(AttributePath.element.description)] ?? -1
        indexSlot = slotOf[BytewiseString(AttributePath.index.description)] ?? -1
        parentSlots = Set(paths).compactMap { path in
            path.parentAttribute.flatMap { name in slotOf[BytewiseString(path.description)].map { ($0, name) } }
        }
        hasGenerated = entity.attributes.contains(where: \.isGenerated)
        needsPresence = onConflict == .merge || onConflict == .replace && hasGenerated
        var defaultBytes: [UInt8] = []
        defaults = try entity.attributes.map { try Self.defaultCell(of: $0, in: entity, transformers, &defaultBytes) }
        self.defaultBytes = defaultBytes
        trie = KeyPathTrie(keys)
        let columns = keys.compactMap { $0.keys.first.flatMap(RowColumns.index) }
        columnNodes = trie.nodes(ofColumns: (0..<(columns.max() ?? -1) + 1).map(RowColumns.name))
        let coercions = coercions
        attributes = .copy(
            of: entity.attributes.enumerated().map { Attribute($1, slots: slots[$0], coercions[$0]) }
        )
    }

    deinit {
        attributes.deallocate()
    }

    /// What is wrong with a record that lacks a value.
    package func missing(_ attribute: Int, byteOffset: Int64) -> RecordError {
        RecordError(
            entity: entity.name,
            keyPath: slotPaths[slots[attribute].first ?? 0],
            code: .missingValue,
            expected: attributes[attribute].type.rawValue,
            found: "nothing",
            byteOffset: byteOffset
        )
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
                .modelInvalid,
                "\(entity.name).\(attribute.name): \(error)",
                advice: "\(call: .checkingModel) names all mistakes of a model file."
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
                .modelInvalid,
                "\(entity.name).\(attribute.name): the default does not fit \(error.expected)",
                advice: "Give a default that fits the attribute's type."
            )
        }
    }
}
