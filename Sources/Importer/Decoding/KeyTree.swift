import Foundation
import ImportModel

/// The keys on the way to an entity's slots, as one tree, so that a record is walked once.
///
/// It is asked for every key of every record, so its nodes lie flat in memory of their own. Not changed once it is made.
final class KeyTree {
    /// A key on the way to a slot.
    ///
    /// Nodes are in depth-first order, so that a node's descendants are a range. The first one is the record itself.
    private struct Node {
        /// The node's slot; -1 where it only leads further.
        var slot: Int32 = -1
        /// Just past its last descendant.
        var subtreeEnd: Int32 = 0
        /// Where its children's numbers stand, in the order of the model.
        var firstChild: Int32 = 0
        var childCount: Int32 = 0
        /// Its place among its parent's children.
        var place: Int32 = 0
        /// Where its key's bytes stand.
        var keyOffset: Int32 = 0
        var keyLength: Int32 = 0
        /// Open addressing by the key's hash, for objects with many keys: the child's number, 0 for none.
        ///
        /// No child has the number 0, which is the record's. The size is a power of two; 0 where there are no children.
        var table: Int32 = 0
        var tableSize: Int32 = 0
    }

    /// How many nodes there are.
    let count: Int
    private let nodes: UnsafeMutableBufferPointer<Node>
    /// The numbers of all nodes' children, and then all tables.
    private let numbers: UnsafeMutableBufferPointer<Int32>
    private let keys: UnsafeMutableBufferPointer<UInt8>
    /// The path of each node in words, for errors and the ledger.
    private let paths: [String]

    /// - Parameter slots: the keys that lead to each slot; none twice.
    init(_ slots: [(keys: [String], slot: Int)]) {
        var root = Branch()
        for (keys, slot) in slots { root.insert(keys[...], slot: slot) }
        var layout = Layout()
        layout.add(root, path: [])
        count = layout.nodes.count
        nodes = .copy(of: layout.nodes)
        numbers = .copy(of: layout.numbers)
        keys = .copy(of: layout.keys)
        paths = layout.paths
    }

    deinit {
        nodes.deallocate()
        numbers.deallocate()
        keys.deallocate()
    }

    /// The path of a node in words.
    func path(_ node: Int) -> String { paths[node] }

    /// The slot of a node; -1 where it only leads further.
    @inline(__always)
    func slot(_ node: Int) -> Int { Int(nodes[node].slot) }

    /// Whether keys below a node lead to slots.
    @inline(__always)
    func hasChildren(_ node: Int) -> Bool { nodes[node].childCount > 0 }

    /// A node and all below it.
    func subtree(_ node: Int) -> Range<Int> { node..<Int(nodes[node].subtreeEnd) }

    /// The child of `node` with this key, or -1.
    ///
    /// - Parameter guess: the place among the children where it is looked for first; moved past the child found, as
    ///   records of a kind have their keys in the same order.
    @inline(__always)
    func child(of node: Int, key: ByteView, guess: inout Int) -> Int {
        if guess < Int(nodes[node].childCount) {
            let candidate = Int(numbers[Int(nodes[node].firstChild) &+ guess])
            if matches(candidate, key) {
                guess &+= 1
                return candidate
            }
        }
        let found = lookUp(node, key)
        if found >= 0 { guess = Int(nodes[found].place) &+ 1 }
        return found
    }

    @inline(__always)
    private func matches(_ node: Int, _ key: ByteView) -> Bool {
        let length = Int(nodes[node].keyLength)
        guard length == key.count else { return false }
        guard length > 0, let own = keys.baseAddress else { return length == 0 }
        return memcmp(own + Int(nodes[node].keyOffset), key.base, length) == 0
    }

    private func lookUp(_ node: Int, _ key: ByteView) -> Int {
        let mask = Int(nodes[node].tableSize) - 1
        guard mask >= 0 else { return -1 }
        let table = Int(nodes[node].table)
        var place = Self.hash(key) & mask
        while true {
            let child = Int(numbers[table + place])
            if child == 0 { return -1 }
            if matches(child, key) { return child }
            place = (place + 1) & mask
        }
    }

    /// FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>), its high bits folded in.
    private static func hash(_ key: ByteView) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in 0..<key.count { hash = (hash ^ UInt64(key[index])) &* 0x0000_0100_0000_01b3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 29))
    }

    // MARK: Making one

    /// The tree as it grows.
    private struct Branch {
        var slot = -1
        var keys: [String] = []
        var children: [ExactText: Branch] = [:]

        mutating func insert(_ path: ArraySlice<String>, slot: Int) {
            guard let key = path.first else {
                self.slot = slot
                return
            }
            let exact = ExactText(key)
            if children[exact] == nil { keys.append(key) }
            children[exact, default: Branch()].insert(path.dropFirst(), slot: slot)
        }
    }

    /// The tree as it lies in memory.
    private struct Layout {
        var nodes: [Node] = []
        var numbers: [Int32] = []
        var keys: [UInt8] = []
        var paths: [String] = []

        /// - Returns: the number of the branch's node.
        @discardableResult
        mutating func add(_ branch: Branch, path: [String], place: Int = 0) -> Int32 {
            let number = nodes.count
            var node = Node()
            node.slot = Int32(branch.slot)
            node.place = Int32(place)
            if let key = path.last {
                node.keyOffset = Int32(keys.count)
                node.keyLength = Int32(key.utf8.count)
                keys += key.utf8
            }
            nodes.append(node)
            paths.append(AttributePath(keys: path).description)
            var children: [Int32] = []
            for (place, key) in branch.keys.enumerated() {
                guard let child = branch.children[ExactText(key)] else { continue }
                children.append(add(child, path: path + [key], place: place))
            }
            node.subtreeEnd = Int32(nodes.count)
            node.firstChild = Int32(numbers.count)
            node.childCount = Int32(children.count)
            numbers += children
            let table = table(of: children)
            node.table = Int32(numbers.count)
            node.tableSize = Int32(table.count)
            numbers += table
            nodes[number] = node
            return Int32(number)
        }

        private func table(of children: [Int32]) -> [Int32] {
            guard !children.isEmpty else { return [] }
            var size = 4
            while size < children.count * 2 { size *= 2 }
            var table = [Int32](repeating: 0, count: size)
            for child in children {
                let key = nodes[Int(child)]
                let range = Int(key.keyOffset)..<Int(key.keyOffset + key.keyLength)
                var place = keys.withUnsafeBufferPointer { KeyTree.hash(ByteView($0)[range]) } & (size - 1)
                while table[place] != 0 { place = (place + 1) & (size - 1) }
                table[place] = child
            }
            return table
        }
    }
}

extension UnsafeMutableBufferPointer {
    /// Memory of its own with these elements.
    fileprivate static func copy(of elements: [Element]) -> Self {
        let memory = Self.allocate(capacity: elements.count)
        _ = memory.initialize(from: elements)
        return memory
    }
}
