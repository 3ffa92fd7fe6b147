/// The hosts that a connection may lead to, as libpq's settings list them
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS>).
struct HostList {
    /// The lists by the names of their settings; an entry may be empty.
    private var lists: [String: [String]] = [:]

    /// A setting's text; others than those that list hosts are not kept.
    subscript(setting: String) -> String? {
        get { lists[setting]?.joined(separator: ",") }
        set {
            guard ["host", "hostaddr", "port"].contains(setting) else { return }
            lists[setting] = newValue?.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        }
    }

    /// What people call a host.
    static func name(_ host: String, port: String) -> String { "\(host), port \(port.isEmpty ? "5432" : port)" }

    /// The name of the host with an index.
    private func name(at index: Int) -> String {
        func entry(_ setting: String) -> String {
            guard let list = lists[setting] else { return "" }
            return list.count == 1 ? list[0] : list.indices.contains(index) ? list[index] : ""
        }
        return Self.name(entry("host").isEmpty ? entry("hostaddr") : entry("host"), port: entry("port"))
    }

    /// The settings that leave out all hosts up to one; none where it is the last, or not there.
    ///
    /// - Parameter name: as `name(_:port:)` has it.
    func settings(after name: String) -> [(name: String, value: String)] {
        let count = max(lists["host"]?.count ?? 0, lists["hostaddr"]?.count ?? 0)
        guard let tried = (0..<count).first(where: { self.name(at: $0) == name }), tried + 1 < count else { return [] }
        // One port is the port of all hosts.
        return lists.filter { $0.value.count > 1 }.map { ($0, $1.dropFirst(tried + 1).joined(separator: ",")) }
            .sorted { $0.0 < $1.0 }
    }
}
