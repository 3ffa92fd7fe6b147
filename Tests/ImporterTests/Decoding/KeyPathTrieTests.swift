import ImportModel
import Importer
import Testing

@testable import ImportEngine

struct KeyPathTrieTests {
    /// Keys are compared by words that overlap: each of their bytes counts all the same, whatever their length.
    @Test(arguments: 0...40)
    func tellsKeysApartByEachOfTheirBytes(length: Int) {
        let key = String(repeating: "k", count: length)
        let trie = KeyPathTrie([(keys: [key], slot: 0)])
        func isFound(_ bytes: [UInt8]) -> Bool {
            bytes.withUnsafeBufferPointer {
                trie.child(of: 0, key: ByteView($0)) == 1 && trie.nodes.matches(1, ByteView($0))
            }
        }
        #expect(isFound(Array(key.utf8)))
        #expect(!isFound(Array(key.utf8) + [0x6B]))
        for place in 0..<length {
            var other = Array(key.utf8)
            other[place] ^= 1
            #expect(other.withUnsafeBufferPointer { !trie.nodes.matches(1, ByteView($0)) }, "\(place)")
            #expect(!isFound(other))
        }
    }

    /// The next child that is expected is where the last one's subtree ends.
    @Test func childrenFollowOneAnother() {
        let trie = KeyPathTrie([
            (keys: ["a"], slot: 0), (keys: ["b", "c"], slot: 1), (keys: ["b", "d", "e"], slot: 2),
            (keys: ["f"], slot: 3),
        ])
        func child(_ node: Int, _ key: String) -> Int {
            Array(key.utf8).withUnsafeBufferPointer { trie.child(of: node, key: ByteView($0)) }
        }
        let (first, second, third) = (child(0, "a"), child(0, "b"), child(0, "f"))
        #expect(first == 1)
        #expect(trie.nodes.end(of: first) == second)
        #expect(trie.nodes.end(of: second) == third)
        #expect(trie.nodes.end(of: third) == trie.nodes.end(of: 0))
        #expect(trie.nodes.end(of: child(second, "c")) == child(second, "d"))
        #expect(trie.nodes.hasChildren(second))
        #expect(!trie.nodes.hasChildren(first))
        #expect(child(0, "c") == -1)
    }
}
