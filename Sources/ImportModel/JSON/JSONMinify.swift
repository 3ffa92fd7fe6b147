/// Takes insignificant white space out of JSON and leaves every other byte as it is.
package enum JSONMinify {
    /// The offset of the first white space that is outside of strings; nil if there is none.
    package static func firstWhiteSpace(in json: ByteView) -> Int? {
        var index = 0
        while index < json.count {
            let byte = json[index]
            if JSONSyntax.isWhiteSpace(byte) { return index }
            index = byte == UInt8(ascii: "\"") ? JSONSyntax.endOfString(in: json, at: index) : index &+ 1
        }
        return nil
    }

    /// Appends `json`, which must be valid JSON, to `output` without its insignificant white space.
    package static func append(_ json: ByteView, to output: inout [UInt8]) {
        // Appended at once: what is between white space is mostly a few bytes.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: json.count) { minified in
            var count = 0
            var index = 0
            while index < json.count {
                let isString = json[index] == UInt8(ascii: "\"")
                let end = isString ? JSONSyntax.endOfString(in: json, at: index) : index &+ 1
                if isString || !JSONSyntax.isWhiteSpace(json[index]) {
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
    /// The same for what is nearly JSON: `NaN` and `Infinity` become null, escapes those of JSON.
    package static func appendLenient(_ json: ByteView, to output: inout [UInt8]) {
        if let json = JSONUnescaper.respelled(json) {
            return json.withUnsafeBufferPointer { appendLenient(ByteView($0), to: &output) }
        }
        guard let (text, scanner) = LenientScanner.scan(json, .notFinite) else { return append(json, to: &output) }
        text.withUnsafeBufferPointer { text in
            let text = ByteView(text)
            var start = 0
            for null in scanner.nulls {
                append(text[start..<null.lowerBound], to: &output)
                output += "null".utf8
                start = null.upperBound
            }
            append(text[start..<text.count], to: &output)
        }
    }
}
