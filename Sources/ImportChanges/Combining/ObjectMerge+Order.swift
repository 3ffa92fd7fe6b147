import ImportEngine
import ImportModel

/// Lists whose order is kept: members by members, and the order as one of the sides has it.
extension ObjectMerge {
    /// What becomes of a list; nil where it stays as ours has it.
    ///
    /// Members that only one side has follow the one that they follow there. Where both sides have changed the order of the members
    /// that both have, and not alike, it is a conflict, and the order stays that of ours.
    package func order(_ name: String, ours: ObjectChange?, theirs: ObjectChange?, _ parts: Parts) throws
        -> OrderChange?
    {
        guard let any = ours ?? theirs, let other = theirs?.list(name) else { return nil }
        let own = ours?.list(name)
        let base = own?.old ?? other.old ?? []
        let left = own?.new ?? base
        let right = other.new ?? base
        let leftOut = Set(parts.leftOut.filter { $0.relationship.hasSameBytes(as: name) }.map(\.object))
        // Where members were left out, they are where ours has them, or nowhere.
        let (inBase, inRight) = (Set(base), Set(right))
        let added = Set(right.filter { !inBase.contains($0) && !leftOut.contains($0) })
        let removed = Set(base.filter { !inRight.contains($0) && !leftOut.contains($0) })
        let members = Set(left).union(added).subtracting(removed)
        let isInserted = any.kind == .inserted
        let common = members.intersection(isInserted ? inRight : inBase).intersection(Set(left)).intersection(inRight)
        func restricted(_ list: [ObjectReference]) -> [ObjectReference] { list.filter(common.contains) }
        let orders = (base: restricted(base), left: restricted(left), right: restricted(right))
        let isOurs = orders.right == orders.base && !isInserted || orders.left == orders.right
        let isTheirs = orders.left == orders.base && !isInserted
        let byOurs = Self.woven(left, right, members)
        let merged = isOurs || !isTheirs ? byOurs : Self.woven(right, left, members, second: true)
        if !isOurs, !isTheirs {
            var conflict = MergeConflict(
                kind: .order,
                entity: any.entity,
                identifier: any.identifier,
                base: [.init(name, .objects(base))],
                ours: [.init(name, .objects(byOurs))],
                theirs: [.init(name, .objects(Self.woven(right, left, members, second: true)))]
            )
            conflict.toBase = ObjectChange(.updated, entity: any.entity, identifier: any.identifier)
            conflict.toBase?.order = [
                OrderChange(name, old: byOurs, new: Self.woven(base.filter(members.contains), byOurs, members))
            ]
            add(conflict)
        }
        guard merged != left else { return nil }
        return OrderChange(name, old: left, new: merged)
    }

    /// The members in the order of a list, with those that only the other list has after what they follow there.
    ///
    /// - Parameter second: whether such members come before those of the first list that follow the same one.
    private static func woven(
        _ first: [ObjectReference],
        _ other: [ObjectReference],
        _ members: Set<ObjectReference>,
        second: Bool = false
    ) -> [ObjectReference] {
        let list = first.filter(members.contains)
        let known = Set(list)
        let (shared, inOther) = (known.intersection(other), Set(other))
        // By the member that they follow, those that only the other list has.
        var following: [ObjectReference?: [ObjectReference]] = [:]
        var last: ObjectReference?
        for object in other where members.contains(object) {
            if shared.contains(object) { last = object } else { following[last, default: []].append(object) }
        }
        var woven: [ObjectReference] = []
        var pending = following[nil] ?? []
        for object in list {
            // Members that only the first list has come before or after those of the other that follow the same one.
            if second || inOther.contains(object) {
                woven += pending
                pending = []
            }
            woven.append(object)
            if let more = following[object] { pending = more }
        }
        return woven + pending
    }
}
