import Foundation

/// The keys of a report that scripts rely on.
struct Report: Equatable {
    /// The output was no report.
    struct Failure: Error {
        let text: String
    }

    let state: String
    let read: Int
    let inserted: Int
    let updated: Int
    let unchanged: Int
    let ignored: Int
    let rejected: Int

    init(_ data: Data) throws {
        let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        guard let object, let state = object["state"] as? String else {
            throw Failure(text: String(decoding: data, as: UTF8.self))
        }
        self.state = state
        func count(_ key: String) throws -> Int {
            guard let number = object[key] as? NSNumber else { throw Failure(text: "no \(key)") }
            return number.intValue
        }
        read = try count("records_read")
        inserted = try count("inserted")
        updated = try count("updated")
        unchanged = try count("unchanged")
        ignored = try count("ignored")
        rejected = try count("rejected")
    }
}
