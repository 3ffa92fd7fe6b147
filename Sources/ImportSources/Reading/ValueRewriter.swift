import ImportModel

/// Rewrites the objects and arrays at a record path, one at a time; all else stays as it is.
struct ValueRewriter: TextRewriter {
    /// A container that is open.
    private struct Level {
        let isObject: Bool
        /// True if the path leads through it.
        let isOnPath: Bool
    }

    private let steps: [RecordPath.Step]
    private let maxBytes: Int
    /// True if a value ends with its line, whole or not.
    private let isOfLines: Bool
    private var change: ValueChange
    private var levels: [Level] = []
    private var isInString = false
    private var isEscaped = false
    /// True if the next string of the object at hand is a key.
    private var isKeyNext = false
    /// The key at hand, escapes and all; nil where it says nothing.
    private var key: [UInt8]?
    /// The index of the rows that follow, as far as it has come; nil where there is none at hand.
    private var index: [UInt8]?
    /// The value that is being held, and how many of its containers are open; 0 while there is none.
    private var value: [UInt8] = []
    private var brackets = BracketDepth()
    /// True if the value is too long to be held.
    private var isTooLong = false
    /// What was taken and waits for the value before it.
    private var rest: ArraySlice<UInt8> = []
    private(set) var problem: FormProblem?

    var kinds: [String] { change.found.names }

    init(_ form: SourceForm) {
        steps = form.path.flatMap { try? RecordPath($0) }?.steps ?? []
        change = ValueChange(form)
        maxBytes = form.maxBytes
        isOfLines = form.isOfLines
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        if change.hasMore {
            rest += bytes
            return
        }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            index = brackets.depth > 0 ? hold(bytes[index...], &output) : pass(bytes[index...], &output)
            if change.hasMore {
                rest = bytes[index...]
                return
            }
        }
    }

    mutating func pull(to output: inout [UInt8]) -> Bool {
        guard change.hasMore else { return false }
        change.more(to: &output)
        if !change.hasMore {
            let left = rest
            rest = []
            add(left, to: &output)
        }
        return true
    }

    mutating func finish(to output: inout [UInt8]) {
        // What breaks off is said where it is read.
        output += value
        value = []
    }

    /// Goes on to the next value to be rewritten.
    private mutating func pass(_ bytes: ArraySlice<UInt8>, _ output: inout [UInt8]) -> Int {
        var index = bytes.startIndex
        // Where what is at hand of the rows' index begins.
        var first = index
        while index < bytes.endIndex {
            let byte = bytes[index]
            if isInString {
                passString(byte)
                index += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
                key = isKeyNext && levels.last?.isOnPath == true ? [] : nil
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isOnPath = leadsOn
                if isOnPath, levels.count == steps.count {
                    output += bytes[bytes.startIndex..<index]
                    (brackets, isTooLong) = (BracketDepth(), false)
                    return hold(bytes[index...], &output)
                }
                if isIndex { (self.index, first) = ([], index) }
                levels.append(Level(isObject: byte == UInt8(ascii: "{"), isOnPath: isOnPath))
                isKeyNext = byte == UInt8(ascii: "{")
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = levels.popLast()
                isKeyNext = false
                if let values = self.index, levels.count == steps.count - 1 {
                    if values.count + index - first < maxBytes { change.take(index: values + bytes[first...index]) }
                    self.index = nil
                }
            case UInt8(ascii: ","): isKeyNext = levels.last?.isObject == true
            case UInt8(ascii: ":"): isKeyNext = false
            default: break
            }
            index += 1
        }
        if self.index != nil { self.index? += bytes[first...] }
        output += bytes
        return index
    }

    /// True if the index of rows begins here, beside them.
    private var isIndex: Bool {
        guard change.takesIndex, levels.count == steps.count - 1, let level = levels.last, level.isOnPath, let key
        else {
            return false
        }
        return key.elementsEqual(SourceForm.indexKey.utf8)
    }

    private mutating func passString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            return
        }
        key?.append(byte)
    }

    /// True if the path leads to or through the value that begins here.
    private var leadsOn: Bool {
        guard let level = levels.last else { return true }
        guard level.isOnPath, levels.count <= steps.count else { return false }
        switch steps[levels.count - 1] {
        case .anyElement: return !level.isObject
        case .anyMember: return level.isObject
        case .key(let name):
            guard level.isObject, let key else { return false }
            return JSONUnescaper.text(key) == name
        }
    }

    /// Holds bytes up to the end of the value at hand, and rewrites it.
    private mutating func hold(_ bytes: ArraySlice<UInt8>, _ output: inout [UInt8]) -> Int {
        var index = bytes.startIndex
        let start = index
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == 0x0A, isOfLines {
                keep(bytes[start..<index], &output)
                // What is no record by itself would end a stream of them.
                if change.makesLists {
                    value.withUnsafeBufferPointer { appendText(ByteView($0).withoutSpaces, to: &output) }
                } else {
                    output += value
                }
                value = []
                brackets = BracketDepth()
                return index
            }
            brackets.pass(byte)
            guard brackets.depth == 0 else { continue }
            keep(bytes[start..<index], &output)
            end(&output)
            return index
        }
        keep(bytes[start..<index], &output)
        return index
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>, _ output: inout [UInt8]) {
        if !isTooLong, value.count + bytes.count > maxBytes {
            if change.isOfWholes {
                problem = .tooLong
            }
            isTooLong = true
            output += value
            value = []
        }
        if isTooLong { output += bytes } else { value += bytes }
    }

    private mutating func end(_ output: inout [UInt8]) {
        isKeyNext = false
        guard !isTooLong else { return }
        let whole = value
        value = []
        if !change.begin(whole, to: &output) { problem = .unequal }
    }
}
