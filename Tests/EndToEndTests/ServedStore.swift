import Foundation
import TestSupport

/// A store that `importer serve` shows, as people start it.
struct ServedStore {
    let child: ChildProcess
    let client: HTTPClient
    /// The address that it has printed.
    let address: String

    /// Starts to serve, and waits for the address.
    init(_ store: String, _ options: String...) throws {
        try self.init(command: ["serve", store, "--port", "0"] + options)
    }

    /// Starts any command that serves.
    init(command: [String], input: String = "/dev/null") throws {
        let child = try ChildProcess([Project.importer] + command, input: input)
        let address = try wait(for: "the address", instead: { child.account }) {
            let lines = child.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count > 1 { return String(lines[0]) }
            guard child.isRunning else { throw NeverCame("the address: \(child.errorsSoFar)") }
            return nil as String?
        }
        guard let port = URL(string: address)?.port.flatMap({ UInt16(exactly: $0) }) else {
            throw NeverCame("an address: \(address)")
        }
        self.child = child
        self.address = address
        client = HTTPClient(port: port)
    }

    /// A store with an empty table of these attributes, and what a statement then does to it.
    static func store(
        _ directory: TemporaryDirectory,
        of entity: String,
        _ attributes: [(name: String, type: String)],
        _ sql: String
    ) throws -> String {
        let texts = attributes.map { #""\#($0.name)": {"type": "\#($0.type)", "optional": true}"# }
        let files = try ImportFiles(
            records: [["{}"]],
            model: #"{"entities": {"\#(entity)": {"attributes": {\#(texts.joined(separator: ", "))}}}}"#
        )
        let store = directory.path("\(entity).sqlite")
        let result = try run(files.command(into: store, ["--entity", entity, "--quiet"]))
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
        try StoreContent.execute(store, "DELETE FROM \(entity);" + sql)
        return store
    }

    /// Ends it as Ctrl-C does.
    func end() -> ChildProcess.Result {
        child.signal(SIGINT)
        return child.wait()
    }

    /// JSON that must be there.
    func json(_ target: String) throws -> [String: Any] {
        let answer = try client.ask(target)
        guard answer.status == 200 else { throw StoreContent.Failure("\(target): \(answer.status) \(answer.text)") }
        return try answer.json
    }

    /// The values of a query's parameters, escaped.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                return String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }.joined()
    }
}
