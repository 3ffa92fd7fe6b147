/// An element of an XML document, with the elements in it.
struct XMLElement: Sendable {
    let name: String
    /// The values of its attributes, without escapes.
    let attributes: [String: String]
    /// The line on which its start tag ends, from 1.
    let line: Int
    /// In the document's order.
    var elements: [XMLElement] = []
    /// The text in it, as far as it is not in one of its elements.
    var text = ""

    /// The value of an attribute; nil where there is none.
    subscript(attribute: String) -> String? { attributes[attribute] }

    /// The elements in it that have a name.
    func all(_ name: String) -> [XMLElement] { elements.filter { $0.name.hasSameBytes(as: name) } }
}
