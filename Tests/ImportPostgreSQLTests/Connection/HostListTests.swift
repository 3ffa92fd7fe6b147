import Testing

@testable import ImportPostgreSQL

struct HostListTests {
    private func list(_ host: String?, _ port: String?, addresses: String? = nil) -> HostList {
        var list = HostList()
        (list["host"], list["port"], list["hostaddr"]) = (host, port, addresses)
        return list
    }

    private func rest(_ list: HostList, _ host: String, _ port: String) -> [String] {
        list.settings(after: HostList.name(host, port: port)).map { "\($0.name)=\($0.value)" }
    }

    @Test func leavesOutWhatWasTried() {
        #expect(rest(list("a,b,c", "1,2,3"), "a", "1") == ["host=b,c", "port=2,3"])
        #expect(rest(list("a,b,c", "1,2,3"), "b", "2") == ["host=c", "port=3"])
        #expect(rest(list("a,a", "1,2"), "a", "1") == ["host=a", "port=2"])
    }

    @Test func onePortIsThatOfAll() {
        #expect(rest(list("a,b", "7"), "a", "7") == ["host=b"])
        #expect(rest(list("a,b", nil), "a", "5432") == ["host=b"])
        #expect(rest(list("a,b", ",7"), "a", "5432") == ["host=b", "port=7"])
    }

    @Test func aHostMayHaveAnAddressAlone() {
        #expect(rest(list(nil, "1,2", addresses: "::1,::2"), "::1", "1") == ["hostaddr=::2", "port=2"])
    }

    @Test func afterTheLastIsNone() {
        #expect(rest(list("a,b", "1,2"), "b", "2").isEmpty)
        #expect(rest(list("a", nil), "a", "5432").isEmpty)
        #expect(rest(list("a,b", nil), "c", "5432").isEmpty)
        #expect(rest(HostList(), "", "5432").isEmpty)
    }
}
