import ImportModel

/// Record paths, made ready for matching.
///
/// A set of paths is a bit mask; a depth counts the containers that enclose a value.
package struct RecordMatcher {
    /// The most paths that one source can have.
    static let maximumPaths = 64

    /// A key that some path has at some depth.
    package struct Key {
        package let text: String
        fileprivate let bytes: [UInt8]
        fileprivate let paths: UInt64
    }

    /// The paths themselves.
    package let paths: [RecordPath]
    /// All of them.
    package let all: UInt64
    /// The paths that end in `.*`.
    package let keyed: UInt64
    /// By depth: the paths that have any member here, and go on within it.
    let outerKeys: [UInt64]
    /// By depth: the paths that end here.
    package let complete: [UInt64]
    /// By depth: the paths that end with any element or any member of a container here.
    package let collections: [UInt64]
    /// By depth: the paths whose next step is taken by elements.
    package let elements: [UInt64]
    /// By depth: the paths whose next step is taken by any member.
    package let members: [UInt64]
    /// By depth: the paths whose next step is taken by members, any or with some key.
    package let objects: [UInt64]
    /// By depth: the keys that some path's next step has.
    package let keys: [[Key]]
    /// By depth: a key that is none of these.
    let otherKeys: [String]
    /// The longest key's length in bytes.
    let longestKey: Int

    /// - Throws: `ImportError` with `.usage` for more than 64 paths.
    package init(_ paths: [RecordPath]) throws {
        guard paths.count <= Self.maximumPaths else {
            throw ImportError(
                .optionInvalid,
                "\(paths.count) record paths for one source",
                advice: "Give at most \(Self.maximumPaths)."
            )
        }
        let depths = (paths.map(\.steps.count).max() ?? 0) + 1
        var complete = [UInt64](repeating: 0, count: depths)
        var elements = complete
        var members = complete
        var objects = complete
        var collections = complete
        var outerKeys = complete
        var all: UInt64 = 0
        var keyed: UInt64 = 0
        // By their bytes: two strings can be equal to Swift and differ in JSON.
        var keyPaths = [[[UInt8]: UInt64]](repeating: [:], count: depths)
        for (index, path) in paths.enumerated() {
            let bit: UInt64 = 1 << UInt64(index)
            all |= bit
            if path.isKeyed { keyed |= bit }
            complete[path.steps.count] |= bit
            if let last = path.steps.last, last == .anyElement || last == .anyMember {
                collections[path.steps.count - 1] |= bit
            }
            for (depth, step) in path.steps.enumerated() {
                switch step {
                case .anyElement: elements[depth] |= bit
                case .anyMember:
                    members[depth] |= bit
                    if depth < path.steps.count - 1 { outerKeys[depth] |= bit }
                    objects[depth] |= bit
                case .key(let key):
                    objects[depth] |= bit
                    keyPaths[depth][Array(key.utf8), default: 0] |= bit
                }
            }
        }
        self.paths = paths
        self.all = all
        self.keyed = keyed
        self.outerKeys = outerKeys
        self.complete = complete
        self.collections = collections
        self.elements = elements
        self.members = members
        self.objects = objects
        keys = keyPaths.map { depth in
            depth.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                .map { Key(text: String(decoding: $0.key, as: UTF8.self), bytes: $0.key, paths: $0.value) }
        }
        otherKeys = keyPaths.map { depth in
            var key = "k"
            while depth[Array(key.utf8)] != nil { key += "k" }
            return key
        }
        longestKey = keys.joined().map(\.bytes.count).max() ?? 0
    }

    /// The index in `keys` of a member's key, or -1.
    package func index(of key: ByteView, depth: Int) -> Int {
        keys[depth].firstIndex { $0.bytes.count == key.count && key.buffer.elementsEqual($0.bytes) } ?? -1
    }

    /// Which of `paths` a member takes a step of.
    ///
    /// - Parameters:
    ///   - paths: those that hold for the object.
    ///   - key: what `index(of:depth:)` gave.
    ///   - depth: the object's.
    /// - Returns: those whose next step leads to the member.
    package func paths(_ paths: UInt64, key: Int, depth: Int) -> UInt64 {
        paths & (members[depth] | (key >= 0 ? keys[depth][key].paths : 0))
    }
}
