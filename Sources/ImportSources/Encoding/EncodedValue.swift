import ImportModel

/// A JSON value that is being encoded: containers that encoders have handed out may still be filled.
package final class EncodedValue {
    package enum Content {
        /// Nothing was encoded yet.
        case nothing
        /// The value as JSON: a text in quotes, digits, `true`, `null`.
        case literal(String)
        case array([EncodedValue])
        /// Members in the order in which they were encoded.
        case object([(key: String, value: EncodedValue)])
    }

    package var content: Content

    package init(_ content: Content = .nothing) {
        self.content = content
    }

    /// Makes an empty value an object.
    func becomeObject() {
        if case .nothing = content { content = .object([]) }
    }

    /// Makes an empty value an array.
    func becomeArray() {
        if case .nothing = content { content = .array([]) }
    }

    /// Adds a member to an object.
    package func append(_ value: EncodedValue, under key: String) {
        guard case .object(var members) = content else { return }
        // Taken out, so that it is not copied.
        content = .nothing
        members.append((key, value))
        content = .object(members)
    }

    /// Adds an element to an array.
    package func append(_ value: EncodedValue) {
        guard case .array(var elements) = content else { return }
        content = .nothing
        elements.append(value)
        content = .array(elements)
    }

    package var count: Int {
        switch content {
        case .array(let elements): elements.count
        case .object(let members): members.count
        default: 0
        }
    }

    // MARK: Collections without an order

    /// Puts the members of a dictionary in the order of their keys, which may be in an array that has keys and values in
    /// turns.
    func sortDictionary() {
        switch content {
        case .object(let members): content = .object(members.sorted { $0.key < $1.key })
        case .array(let elements) where elements.count.isMultiple(of: 2):
            let pairs = stride(from: 0, to: elements.count, by: 2).map { (elements[$0].text, $0) }.sorted { $0 < $1 }
            content = .array(pairs.flatMap { [elements[$0.1], elements[$0.1 + 1]] })
        default: break
        }
    }

    /// Puts the elements of a set in the order of their texts.
    func sortSet() {
        guard case .array(let elements) = content else { return }
        content = .array(elements.map { ($0.text, $0) }.sorted { $0.0 < $1.0 }.map(\.1))
    }

    // MARK: Writing

    private var text: String {
        var output: [UInt8] = []
        write(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the value as JSON on one line.
    package func write(to output: inout [UInt8]) {
        switch content {
        case .nothing: output.append(contentsOf: "{}".utf8)
        case .literal(let text): output.append(contentsOf: text.utf8)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.append(contentsOf: Self.quoted(member.key).utf8)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// A text as JSON.
    package static func quoted(_ text: String) -> String {
        var quoted = ""
        quoted.appendJSON(text)
        return quoted
    }
}
