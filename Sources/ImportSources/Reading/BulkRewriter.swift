import ImportModel

/// Puts the documents of Elasticsearch's bulk lines into one list for each index, with the `_index` and `_id` of the line before.
///
/// Deletions, and lines that are neither actions nor documents, become texts, which are outside of the records.
package struct BulkRewriter: TextRewriter {
    /// What a line says of the document on the next one.
    package struct Action {
        package let name: String
        package let index: String
        /// Its `_index` and `_id`, as members of JSON.
        let members: [UInt8]
    }

    /// The index of documents whose action has none.
    package static let noIndex = "documents"

    private var lines: LineGatherer
    private var action: Action?
    private let indexes: Set<String>?
    private var found = KindList()

    var kinds: [String] { found.names }

    init(_ form: SourceForm) {
        lines = LineGatherer(maxBytes: form.maxBytes)
        indexes = form.values.map(Set.init)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var (gatherer, this) = (lines, self)
        gatherer.add(bytes, to: &output) { this.take($0.withoutSpaces, to: &$1) }
        (self, lines) = (this, gatherer)
    }

    mutating func finish(to output: inout [UInt8]) {
        var (gatherer, this) = (lines, self)
        if !gatherer.isEmpty { gatherer.finish(to: &output) { this.take($0.withoutSpaces, to: &$1) } }
        (self, lines) = (this, gatherer)
    }

    private mutating func take(_ line: ByteView, to output: inout [UInt8]) {
        guard line.count > 0 else { return }
        guard let action else {
            action = Self.action(of: line)
            if action?.name == "delete" || action == nil {
                action = nil
                appendText(line, to: &output)
            }
            return
        }
        self.action = nil
        let document = action.name == "update" ? Self.document(ofUpdate: line) : line
        guard let document, EventRewriter.isObject(document) else { return appendText(line, to: &output) }
        let isKnown = indexes?.contains(action.index) ?? true
        if indexes == nil { found.add(action.index) }
        output += "{\(JSONValue.string(isKnown ? action.index : ValueChange.otherKind).serialized()):[{".utf8
        let rest = document[JSONParts.skipWhiteSpace(in: document, from: 1)..<document.count]
        output += rest[0] == UInt8(ascii: "}") ? action.members.dropLast() : action.members[...]
        output += rest.buffer
        output += "]}\n".utf8
    }

    /// What a line says of the next one; nil where it is no action.
    package static func action(of line: ByteView) -> Action? {
        guard EventRewriter.isObject(line) else { return nil }
        var cursor = JSONCursor(line)
        guard let (key, content) = cursor.next(), let key, content[0] == UInt8(ascii: "{"), cursor.next() == nil else {
            return nil
        }
        let name = String(decoding: key.buffer.dropFirst().dropLast(), as: UTF8.self)
        guard ["index", "create", "update", "delete"].contains(name) else { return nil }
        var (members, index, inner) = ([UInt8](), noIndex, JSONCursor(content))
        while let (key, value) = inner.next() {
            guard let key, isOption(key) else { return nil }
            guard key.buffer.elementsEqual("\"_index\"".utf8) || key.buffer.elementsEqual("\"_id\"".utf8)
            else {
                continue
            }
            members += key.buffer + [UInt8(ascii: ":")] + value.buffer + [UInt8(ascii: ",")]
            if key.count == 8, value[0] == UInt8(ascii: "\"") {
                index = JSONUnescaper.text(Array(value.buffer.dropFirst().dropLast()))
            }
        }
        return Action(name: name, index: index, members: members)
    }

    /// True if a key is one that an action has.
    private static func isOption(_ key: ByteView) -> Bool {
        let name = String(decoding: key.buffer.dropFirst().dropLast(), as: UTF8.self)
        return ["_index", "_id", "_type", "_routing", "_version", "_version_type", "_parent", "_retry_on_conflict"]
            .contains(name) || options.contains(name)
    }

    private static let options: Set = [
        "routing", "version", "version_type", "require_alias", "list_executed_pipelines", "pipeline",
        "dynamic_templates",
        "retry_on_conflict", "if_seq_no", "if_primary_term", "require_data_stream",
    ]

    private static func document(ofUpdate line: ByteView) -> ByteView? {
        guard EventRewriter.isObject(line) else { return nil }
        var cursor = JSONCursor(line)
        while let (key, value) = cursor.next() {
            if let key, key.buffer.elementsEqual("\"doc\"".utf8) { return value }
        }
        return nil
    }
}
