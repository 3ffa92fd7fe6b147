import Foundation
import Importer

/// The page, which is a part of the program, and the policy that lets its own script and style run and nothing else.
struct PageDocument: Sendable {
    /// The page's bytes.
    let bytes: [UInt8]
    /// The value of `Content-Security-Policy`, for all answers.
    let policy: String

    /// The page that is built in.
    init() { self.init(PackageResources.index_html) }

    /// - Parameter bytes: a page with one script and one style at most.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let text = String(decoding: bytes, as: UTF8.self)
        let script = Self.source(of: "script", in: text)
        let style = Self.source(of: "style", in: text)
        policy = [
            "default-src 'none'", "script-src \(script)", "style-src \(style)", "connect-src 'self'", "img-src data:",
            "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// What the policy allows of an element: the hash of what is in it, or nothing.
    private static func source(of element: String, in text: String) -> String {
        guard let tag = text.range(of: "<\(element)"),
            let start = text.range(of: ">", range: tag.upperBound..<text.endIndex),
            let end = text.range(of: "</\(element)>", range: start.upperBound..<text.endIndex)
        else { return "'none'" }
        let hash = Data(String(text[start.upperBound..<end.lowerBound]).sha256).base64EncodedString()
        return "'sha256-\(hash)'"
    }
}
