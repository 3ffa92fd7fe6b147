/// The keys of lists that are written as objects, as PHP writes those without some of their elements.
package enum ListIndex {
    /// True if a key is a number from 0, without needless digits, that is no more than a list has elements.
    package static func isOne(_ key: some Collection<UInt8>) -> Bool {
        1...4 ~= key.count && key.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
            && (key.count == 1 || key.first != UInt8(ascii: "0"))
    }
}
