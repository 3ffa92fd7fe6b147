import Foundation
import ImportModel
import ImportSources

/// The keys on the way to an entity's slots, as one tree, so that a record is walked once.
///
/// It is asked for every key of every record, so its nodes lie flat in memory of their own. Not changed once it is made.
package final class KeyPathTrie {
    /// A key on the way to a slot.
    ///
    /// Nodes are in depth-first order, so that a node's descendants are a range. The first one is the record itself.
    fileprivate struct Node {
        /// The node's slot; -1 where it only leads further.
        var slot: Int32 = -1
        /// Just past its last descendant: the next one of its parent's children, if there is one.
        var subtreeEnd: Int32 = 0
        /// Where its key's bytes are.
        var keyOffset: Int32 = 0
        var keyLength: Int32 = 0
        /// Open addressing by the key's hash, for objects with many keys: the child's number, 0 for none.
        ///
        /// No child has the number 0, which is the record's. The size is a power of two; 0 where there are no children.
        var table: Int32 = 0
        var tableSize: Int32 = 0
    }

    /// The nodes with their keys: pointers without their owner, so that handing them on counts no reference.
    ///
    /// Valid for as long as the tree is.
    package struct Nodes {
        fileprivate let nodes: UnsafeBufferPointer<Node>
        fileprivate let keys: UnsafeBufferPointer<UInt8>

        /// The slot of a node; -1 where it only leads further.
        @inline(__always)
        func slot(_ node: Int) -> Int { Int(nodes[node].slot) }

        /// True if keys below a node lead to slots.
        @inline(__always)
        func hasChildren(_ node: Int) -> Bool { Int(nodes[node].subtreeEnd) > node &+ 1 }

        /// Just past a node and all below it: where the child after it is, as far as its parent has one.
        @inline(__always)
        package func end(of node: Int) -> Int { Int(nodes[node].subtreeEnd) }

        /// True if a node has this key.
        @inline(__always)
        package func matches(_ node: Int, _ key: ByteView) -> Bool {
            let length = Int(nodes[node].keyLength)
            guard length == key.count, let keys = keys.baseAddress else { return false }
            let own = keys + Int(nodes[node].keyOffset)
            // Keys are short: two words that may overlap cover most of them.
            if length >= 8 {
                guard Self.areEqual(own, key.base, at: 0, as: UInt64.self),
                    Self.areEqual(own, key.base, at: length &- 8, as: UInt64.self)
                else { return false }
                return length <= 16 || memcmp(own + 8, key.base + 8, length &- 16) == 0
            }
            if length >= 4 {
                return Self.areEqual(own, key.base, at: 0, as: UInt32.self)
                    && Self.areEqual(own, key.base, at: length &- 4, as: UInt32.self)
            }
            if length >= 2 {
                return Self.areEqual(own, key.base, at: 0, as: UInt16.self)
                    && Self.areEqual(own, key.base, at: length &- 2, as: UInt16.self)
            }
            return length == 0 || own[0] == key[0]
        }

        /// True if two texts have the same bytes from `offset` on for the length of a word.
        @inline(__always)
        private static func areEqual<Word: FixedWidthInteger & BitwiseCopyable>(
            _ one: UnsafePointer<UInt8>,
            _ other: UnsafePointer<UInt8>,
            at offset: Int,
            as word: Word.Type
        ) -> Bool {
            UnsafeRawPointer(one).loadUnaligned(fromByteOffset: offset, as: word)
                == UnsafeRawPointer(other).loadUnaligned(fromByteOffset: offset, as: word)
        }
    }

    /// How many nodes there are.
    package let count: Int
    package let nodes: Nodes
    private let tables: UnsafeBufferPointer<Int32>
    /// The path of each node in words, for errors and the ledger.
    private let paths: [String]

    /// - Parameter slots: the keys that lead to each slot; none twice.
    package init(_ slots: [(keys: [String], slot: Int)]) {
        var root = Branch()
        for (keys, slot) in slots { root.insert(keys[...], slot: slot) }
        var layout = Layout()
        layout.add(root, path: [])
        count = layout.nodes.count
        nodes = Nodes(nodes: .copy(of: layout.nodes), keys: .copy(of: layout.keys))
        tables = .copy(of: layout.tables)
        paths = layout.paths
    }

    deinit {
        nodes.nodes.deallocate()
        nodes.keys.deallocate()
        tables.deallocate()
    }

    /// The path of a node in words.
    package func path(_ node: Int) -> String { paths[node] }

    /// A node and all below it.
    func subtree(_ node: Int) -> Range<Int> { node..<nodes.end(of: node) }

    /// The child of `node` with this key, or -1.
    package func child(of node: Int, key: ByteView) -> Int {
        let mask = Int(nodes.nodes[node].tableSize) - 1
        guard mask >= 0 else { return -1 }
        let table = Int(nodes.nodes[node].table)
        var place = Self.hash(key) & mask
        while true {
            let child = Int(tables[table + place])
            if child == 0 { return -1 }
            if nodes.matches(child, key) { return child }
            place = (place + 1) & mask
        }
    }

    /// The nodes of columns with these names; -1 for those that nothing reads.
    func nodes(ofColumns names: [String]) -> [Int] {
        names.map { name in
            Array(name.utf8).withUnsafeBufferPointer { child(of: 0, key: ByteView($0)) }
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
        var children: [BytewiseString: Branch] = [:]

        mutating func insert(_ path: ArraySlice<String>, slot: Int) {
            guard let key = path.first else {
                self.slot = slot
                return
            }
            let exact = BytewiseString(key)
            if children[exact] == nil { keys.append(key) }
            children[exact, default: Branch()].insert(path.dropFirst(), slot: slot)
        }
    }

    /// The tree as it lies in memory.
    private struct Layout {
        var nodes: [Node] = []
        var tables: [Int32] = []
        var keys: [UInt8] = []
        var paths: [String] = []

        /// - Returns: the number of the branch's node.
        @discardableResult
        mutating func add(_ branch: Branch, path: [String]) -> Int32 {
            let number = nodes.count
            var node = Node()
            node.slot = Int32(branch.slot)
            if let key = path.last {
                node.keyOffset = Int32(keys.count)
                node.keyLength = Int32(key.utf8.count)
                keys += key.utf8
            }
            nodes.append(node)
            paths.append(AttributePath(keys: path).description)
            var children: [Int32] = []
            for key in branch.keys {
                guard let child = branch.children[BytewiseString(key)] else { continue }
                children.append(add(child, path: path + [key]))
            }
            node.subtreeEnd = Int32(nodes.count)
            let table = table(of: children)
            node.table = Int32(tables.count)
            node.tableSize = Int32(table.count)
            tables += table
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
                var place = keys.withUnsafeBufferPointer { KeyPathTrie.hash(ByteView($0)[range]) } & (size - 1)
                while table[place] != 0 { place = (place + 1) & (size - 1) }
                table[place] = child
            }
            return table
        }
    }
}
