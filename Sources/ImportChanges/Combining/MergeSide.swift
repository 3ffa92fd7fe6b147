import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// What one side has made of the base: changes in the order of differences.
package protocol MergeSide: AnyObject {
    /// What they are of, and how many objects there are after them.
    var header: ChangeSetHeader { get }
    /// In what its model differs from that of the base.
    var differences: [String] { get }
    /// The next change, whole; nil after the last.
    func next() throws -> ObjectChange?
    /// What has become of an object, wherever it is told; nil where it is the same.
    func change(of entity: String, _ identifier: ObjectReference) throws -> ObjectChange?
}

/// A store that is compared with the base.
final class ComparedSide: MergeSide {
    let header: ChangeSetHeader
    private let difference: StoreDifference

    /// How much of each store is kept in memory, in KiB: a merge reads four.
    static let cacheSize = 5_000

    /// The store itself, as it is compared.
    var store: ComparedStore { difference.stores.new }

    init(_ base: String, _ store: String, _ options: DifferenceOptions) throws {
        difference = try StoreDifference(base, store, options, cacheSize: Self.cacheSize)
        header = try difference.header()
    }

    var differences: [String] { difference.differences }

    func next() throws -> ObjectChange? { try difference.next() }

    func change(of entity: String, _ identifier: ObjectReference) throws -> ObjectChange? {
        try difference.change(of: entity, identifier)
    }
}

/// A change set that leads from the base.
final class ChangeSetSide: MergeSide {
    let header: ChangeSetHeader
    let differences: [String] = []
    private let path: String
    private let reader: ChangeSetReader
    private let base: StoreDifference
    private let entities: MergedEntities
    private let index: ChangeIndex
    private var ahead: ObjectChange?
    private var last: (rank: Int, identifier: ObjectReference)?

    /// - Parameter base: the base compared with itself, to look up what it has.
    /// - Throws: `ImportError` with `.badInput` where the change set is none, or is not from this base.
    init(_ path: String, _ base: StoreDifference, _ baseHeader: ChangeSetHeader) throws {
        self.path = path
        self.base = base
        reader = try ChangeSetReader(URL(filePath: path))
        var header = reader.header
        header.entities = baseHeader.entities.map { entity in
            header.entities.first { $0.name.hasSameBytes(as: entity.name) } ?? entity
        }
        self.header = header
        entities = MergedEntities(baseHeader.entities) { base.inverse(of: $0) }
        index = try ChangeIndex(path, header.entities, entities)
        try checkHeader(baseHeader)
    }

    private func misfit(_ reason: String) -> ImportError {
        ImportError(
            .storesIncomparable,
            at: path,
            "the change set is not from this base: \(reason)",
            advice: "Compare the base with the store again, or give the store itself."
        )
    }

    private func checkHeader(_ baseHeader: ChangeSetHeader) throws {
        if reader.header.options.contains(where: { $0.name == "include" }) {
            throw misfit("it nests what references lead to")
        }
        if reader.header.options.contains(where: { $0.name == "old" && $0.value == .string("none") }) {
            throw misfit("it was made without old values")
        }
        for state in reader.header.old.objects {
            let own = baseHeader.new.objects.first { $0.entity.hasSameBytes(as: state.entity) }?.count
            guard own == state.count else {
                throw misfit(
                    "it leads from \(state.count.grouped) objects of \(state.entity.printable), and the base has \((own ?? 0).grouped)"
                )
            }
        }
    }

    func next() throws -> ObjectChange? {
        guard var change = try ahead ?? reader.next() else { return nil }
        ahead = nil
        while let next = try reader.next() {
            guard next.isContinued, next.entity.hasSameBytes(as: change.entity), next.identifier == change.identifier
            else {
                ahead = next
                break
            }
            change.join(next)
        }
        guard let rank = entities.rank(change.entity) else {
            throw misfit("it is about \(change.entity.printable), which the base does not have")
        }
        if let last {
            let isLater =
                last.rank < rank
                || last.rank == rank && IdentifierOrder.compare(last.identifier, change.identifier) < 0
            guard isLater else { throw misfit("its changes are in another order") }
        }
        last = (rank, change.identifier)
        try check(change)
        return change
    }

    func change(of entity: String, _ identifier: ObjectReference) throws -> ObjectChange? {
        try index.change(of: entity, identifier)
    }

    // MARK: Old values

    private func check(_ change: ObjectChange) throws {
        let deletion = try base.deletion(of: change.entity, change.identifier)
        let name = "\(change.entity.printable) \(change.identifier.shown)"
        guard (deletion == nil) == (change.kind == .inserted) else {
            throw misfit("\(name) is \(deletion == nil ? "not " : "")in the base")
        }
        if let deletion {
            for attribute in change.attributes {
                guard let old = attribute.old else { continue }
                let stored = deletion.attributes.first { $0.name.hasSameBytes(as: attribute.name) }?.old
                guard stored == old else { throw misfit("\(name) has another \(attribute.name.printable)") }
            }
            for reference in change.references { try check(reference, deletion, name) }
            for owned in change.relationships {
                guard case .values(let old?, _) = owned.content else { continue }
                let stored = deletion.relationships.first { $0.name.hasSameBytes(as: owned.name) }
                guard case .values(let now, _)? = stored?.content ?? .values(old: [], new: nil), now ?? [] == old else {
                    throw misfit("\(name) has other \(owned.name.printable)")
                }
            }
            for order in change.order {
                guard let old = order.old else { continue }
                guard deletion.list(order.name)?.old ?? [] == old else {
                    throw misfit("\(name) has \(order.name.printable) in another order")
                }
            }
        }
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content else { continue }
            for change in changes { try check(change) }
        }
    }

    private func check(_ reference: ReferenceChange, _ deletion: ObjectChange, _ name: String) throws {
        let stored = deletion.references.first { $0.name.hasSameBytes(as: reference.name) }?.content
        switch reference.content {
        case .toOne(let old?, _):
            guard case .toOne(let now, _)? = stored, now == old else {
                throw misfit("\(name) has another \(reference.name.printable)")
            }
        case .toOne(nil, _): break
        case .toMany(let added, let removed):
            var links: Set<ObjectReference> = []
            if case .toMany(_, let all)? = stored { links = Set(all) }
            guard links.isSuperset(of: removed), links.isDisjoint(with: added) else {
                throw misfit("\(name) has other \(reference.name.printable)")
            }
        }
    }
}
