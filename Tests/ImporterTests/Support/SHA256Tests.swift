import Importer
import Testing

/// The expected hashes are those of NIST's examples of FIPS 180-4 and of its tests of byte-oriented messages (SHAVS).
struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func isThatOfThePublishedExamples(_ message: String, _ digest: String) {
        var hash = SHA256()
        #expect(Self.digest(of: Array(message.utf8), by: &hash) == digest)
    }

    @Test func isThatOfAMillionLetters() {
        var hash = SHA256()
        let digest = Self.digest(of: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000), by: &hash)
        #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func doesNotDependOnThePieces() {
        let message = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var hash = SHA256()
        let whole = Self.digest(of: message, by: &hash)
        for end in message.indices {
            message[..<end].withUnsafeBytes { hash.update($0) }
            #expect(Self.digest(of: Array(message[end...]), by: &hash) == whole)
        }
    }

    @Test func leavesNothingOfAMessageToTheNext() {
        var used = SHA256()
        for length in 0..<150 {
            let message = [UInt8](repeating: UInt8(length), count: length)
            var fresh = SHA256()
            #expect(Self.digest(of: message, by: &used) == Self.digest(of: message, by: &fresh))
        }
    }

    private static func digest(of message: [UInt8], by hash: inout SHA256) -> String {
        message.withUnsafeBytes { hash.update($0) }
        let digest = hash.finish()
        return digest.indices.map { (digest[$0] < 16 ? "0" : "") + String(digest[$0], radix: 16) }.joined()
    }
}
