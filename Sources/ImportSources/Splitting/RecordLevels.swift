import ImportModel

/// The containers that enclose a place between records, each with the set of record paths that it may lead to.
struct RecordLevels {
    private struct Level {
        let isArray: Bool
        /// The record paths that lead into it.
        let paths: UInt64
        /// The record paths that lead to its element or member at hand.
        var childPaths: UInt64
        /// The index of the member's key in the matcher's keys of this depth, or -1.
        var key = -1
    }

    private let matcher: RecordMatcher
    private var stack: [Level] = []
    /// By depth: the last key that records are within and no path names, as the source has it, in quotes.
    private var outerKeys: [[UInt8]]

    init(matcher: RecordMatcher) {
        self.matcher = matcher
        outerKeys = Array(repeating: [], count: matcher.outerKeys.count)
    }

    /// True if this is the top level.
    @inline(__always)
    var isEmpty: Bool { stack.isEmpty }

    /// True if the innermost container is an object.
    var isInObject: Bool { stack.last.map { !$0.isArray } ?? false }

    /// How many containers enclose this position.
    var count: Int { stack.count }

    // MARK: Matching

    /// The record paths that lead to the value at hand.
    @inline(__always)
    var valuePaths: UInt64 { stack.isEmpty ? matcher.all : stack[stack.count - 1].childPaths }

    /// The first of `paths` that ends at the value at hand, or -1.
    @inline(__always)
    func recordPath(of paths: UInt64) -> Int {
        let complete = paths & matcher.complete[stack.count]
        return complete == 0 ? -1 : complete.trailingZeroBitCount
    }

    /// True if the records of a path have keys of their own.
    func isKeyed(_ path: Int) -> Bool { matcher.keyed & (1 << UInt64(path)) != 0 }

    /// The record path of members of the innermost container that are records with keys, or -1.
    var pathOfKeyedRecords: Int {
        guard let top = stack.last, !top.isArray else { return -1 }
        return recordPath(of: top.paths & matcher.members[stack.count - 1])
    }

    /// What is around the bytes of a path's records here; it depends on the containers, not on the record.
    func line(of path: Int) -> RecordLine {
        guard path >= 0 else { return RecordLine() }
        let steps = matcher.paths[path].steps
        var line = RecordLine()
        for (depth, step) in steps.enumerated() where step == .anyMember {
            line.head.append(UInt8(ascii: "{"))
            line.keys += 1
            if depth < steps.count - 1 { line.head += outerKeys[depth] + [UInt8(ascii: ":")] }
        }
        return line
    }

    /// True if records of some of `paths` are within the member at hand and keep its key.
    func hasOuterKey(_ paths: UInt64) -> Bool {
        !stack.isEmpty && paths & matcher.outerKeys[stack.count - 1] != 0
    }

    /// Keeps the key of the member at hand.
    mutating func keepKey(_ bytes: [UInt8]) {
        if let depth = stack.indices.last { outerKeys[depth] = bytes }
    }

    /// How values follow one another here, all with the same record paths; nil if these depend on their keys.
    var kindOfFollowing: FastRecordScanner.Kind? {
        guard let top = stack.last else { return .values }
        if top.isArray { return .elements }
        return hasKeys ? nil : .members
    }

    /// Goes into a container.
    ///
    /// - Parameters:
    ///   - paths: the record paths that lead to it.
    ///   - isArray: whether it is an array.
    /// - Returns: false if no path continues in a container of this kind; then it is not entered.
    mutating func open(_ paths: UInt64, isArray: Bool) -> Bool {
        let inner = paths & (isArray ? matcher.elements[stack.count] : matcher.objects[stack.count])
        guard inner != 0 else { return false }
        stack.append(Level(isArray: isArray, paths: inner, childPaths: isArray ? inner : 0))
        return true
    }

    /// The record paths whose records are the elements, or all members, of the innermost container.
    var collections: UInt64 {
        guard let top = stack.last else { return 0 }
        let depth = stack.count - 1
        return top.paths & matcher.collections[depth] & (top.isArray ? matcher.elements[depth] : matcher.members[depth])
    }

    /// Leaves the innermost container.
    mutating func close() {
        _ = stack.popLast()
    }

    /// True if some record path continues with a certain key here.
    var hasKeys: Bool { !stack.isEmpty && !matcher.keys[stack.count - 1].isEmpty }

    /// The index of a member's key among those of the record paths, or -1.
    func index(of key: ByteView) -> Int { matcher.index(of: key, depth: stack.count - 1) }

    /// Goes to a member of the innermost container.
    ///
    /// - Parameter key: what `index(of:)` gave, or -1.
    /// - Returns: the record paths that lead to its value.
    mutating func enterMember(key: Int) -> UInt64 {
        guard let top = stack.indices.last else { return 0 }
        let paths = matcher.paths(stack[top].paths, key: key, depth: top)
        stack[top].key = key
        stack[top].childPaths = paths
        return paths
    }

    // MARK: Texts

    /// The opening tokens of the containers that enclose this position, which is just after a value.
    var openingTokens: String {
        guard !stack.isEmpty else { return "" }
        var text = ""
        for (depth, level) in stack.enumerated() {
            if level.isArray {
                text += "["
            } else {
                let isInnermost = depth == stack.count - 1
                if !isInnermost, level.childPaths & matcher.outerKeys[depth] != 0 {
                    text += "{\(String(decoding: outerKeys[depth], as: UTF8.self)):"
                    continue
                }
                let key = isInnermost || level.key < 0 ? matcher.otherKeys[depth] : matcher.keys[depth][level.key].text
                text += "{\(Self.quoted(key)):"
            }
        }
        return text + "0"
    }

    /// The path of the innermost container as text, with wildcards where its keys are in no record path.
    var containerName: String { name(of: stack.dropLast()) }

    /// The path of the value at hand as text, in the same way.
    var valueName: String { name(of: stack[...]) }

    private func name(of levels: ArraySlice<Level>) -> String {
        var text = "$"
        for (depth, level) in levels.enumerated() {
            if level.isArray {
                text += "[*]"
            } else if level.key >= 0 {
                text += UnmatchedValueCounts.step(key: matcher.keys[depth][level.key].text)
            } else {
                text += ".*"
            }
        }
        return text
    }

    private static func quoted(_ key: String) -> String {
        var text = "\""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
