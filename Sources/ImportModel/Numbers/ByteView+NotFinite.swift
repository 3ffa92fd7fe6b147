extension ByteView {
    /// True for the texts that protobuf, Jackson and PostgreSQL write for a number that is not finite.
    var isNotFinite: Bool {
        guard count == 3 || count == 8 || count == 9 else { return false }
        return ["NaN", "Infinity", "-Infinity"].contains { buffer.elementsEqual($0.utf8) }
    }
}
