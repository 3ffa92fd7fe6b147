/// Takes insignificant white space out of JSON and leaves every other byte as it is.
package enum JSONMinify {
    /// The offset of the first white space that stands outside of strings; nil if there is none.
    package static func firstWhiteSpace(in json: ByteView) -> Int? {
        var index = 0
        while index < json.count {
            let byte = json[index]
            if isWhiteSpace(byte) { return index }
            index = byte == UInt8(ascii: "\"") ? endOfString(in: json, at: index) : index &+ 1
        }
        return nil
    }

    /// Appends `json`, which must be valid JSON, to `output` without its insignificant white space.
    package static func append(_ json: ByteView, to output: inout [UInt8]) {
        // Appended at once: what stands between white space is mostly a few bytes.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: json.count) { minified in
            var count = 0
            var index = 0
            while index < json.count {
                let isString = json[index] == UInt8(ascii: "\"")
                let end = isString ? endOfString(in: json, at: index) : index &+ 1
                if isString || !isWhiteSpace(json[index]) {
                    while index < end {
                        minified.initializeElement(at: count, to: json[index])
                        count &+= 1
                        index &+= 1
                    }
                }
                index = end
            }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: minified[..<count]))
        }
    }

    /// The offset just past the string that opens at `index`, or the end if it is not closed.
    @inline(__always)
    private static func endOfString(in json: ByteView, at index: Int) -> Int {
        var index = index &+ 1
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\""): return index &+ 1
            case UInt8(ascii: "\\"): index &+= 2
            default: index &+= 1
            }
        }
        return json.count
    }

    @inline(__always)
    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}
